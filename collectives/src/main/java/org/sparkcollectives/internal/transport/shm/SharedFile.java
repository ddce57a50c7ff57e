package org.sparkcollectives.internal.transport.shm;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.net.ProcessCounters;
import org.sparkcollectives.spi.tensor.LeasedMemory;

/**
 * Memory that two processes of one host share: a file without a name in a file system that lies in
 * memory.
 *
 * <p>The file loses its name before anything is written to it, so that no kill can leave it behind;
 * the other process opens it through the file descriptor of the first. That both see the same file,
 * and not one that only has the same path in another container, is proven by random bytes at its
 * beginning. Zeros are written to all of it before it is mapped: where there is no room, that
 * fails, whereas a write to a mapped hole would end the process.
 */
public final class SharedFile implements AutoCloseable {

  /** The length of the proof at the beginning. */
  public static final int NONCE_BYTES = 16;

  /** The length of an {@link #address}. */
  public static final int ADDRESS_BYTES = NONCE_BYTES + 2 * Integer.BYTES;

  private static final Logger LOG = LoggerFactory.getLogger(SharedFile.class);
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final int ZEROS = 64 * 1024;

  private final FileChannel channel;
  private final Key key;
  private final byte[] nonce;
  private final MappedByteBuffer memory;
  private final LeasedMemory lease;
  private volatile boolean scratch;

  /**
   * The address at which another process finds a file without a name.
   *
   * @param process the id of the process that has it open
   * @param descriptor its file descriptor there
   */
  public record Key(int process, int descriptor) {

    private static final Pattern PATH = Pattern.compile("/proc/([0-9]{1,9})/fd/([0-9]{1,9})");

    /**
     * Returns the key with this {@link #path}.
     *
     * @throws IOException if it is the path of no such file
     */
    static Key parse(String path) throws IOException {
      Matcher parts = PATH.matcher(path);
      if (!parts.matches()) {
        throw new IOException(path + " is no path of shared memory, such as /proc/1/fd/2");
      }
      return new Key(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)));
    }

    Path path() {
      return Path.of("/proc/" + process + "/fd/" + descriptor);
    }
  }

  private SharedFile(FileChannel channel, Key key, byte[] nonce, int bytes) throws IOException {
    this.channel = channel;
    this.key = key;
    this.nonce = nonce;
    this.memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, NONCE_BYTES + (long) bytes);
    ProcessCounters.mapped(memory.capacity());
    this.lease =
        new LeasedMemory(
            () -> {
              ProcessCounters.mapped(-memory.capacity());
              unmap(memory);
            });
  }

  private static void unmap(MappedByteBuffer memory) {
    try {
      PlatformDependent.freeDirectBuffer(memory);
    } catch (UnsupportedOperationException e) {
      // From Java 25 on Netty frees its own memory only, unless the JVM was started with
      // --sun-misc-unsafe-memory-access=allow, as Spark starts its own.
      invokeCleaner(memory);
    }
  }

  /**
   * Frees memory by a method that is there in all JVMs up to now; else a garbage collection does.
   */
  private static void invokeCleaner(MappedByteBuffer memory) {
    try {
      Class<?> unsafe = Class.forName("sun.misc.Unsafe");
      Field instance = unsafe.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      unsafe.getMethod("invokeCleaner", ByteBuffer.class).invoke(instance.get(null), memory);
    } catch (ReflectiveOperationException e) {
      LOG.debug("{} bytes of shared memory stay mapped for now", memory.capacity(), e);
    }
  }

  /**
   * Makes a file of {@code bytes} zeros after the proof.
   *
   * @param folder in a file system that lies in memory, such as {@code /dev/shm}
   * @throws IOException if there is no such folder, no room, or no way to give the file to others
   */
  public static SharedFile create(Path folder, int bytes) throws IOException {
    byte[] nonce = new byte[NONCE_BYTES];
    new SecureRandom().nextBytes(nonce);
    Path name = folder.toRealPath().resolve(name(nonce));
    FileChannel channel =
        FileChannel.open(
            name,
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    boolean made = false;
    try {
      Files.delete(name);
      Key key = new Key((int) ProcessHandle.current().pid(), descriptorOf(name));
      write(channel, ByteBuffer.wrap(nonce));
      for (int left = bytes; left > 0; left -= ZEROS) {
        write(channel, ByteBuffer.allocate(Math.min(left, ZEROS)));
      }
      SharedFile file = new SharedFile(channel, key, nonce, bytes);
      // Reading maps 16 pages at a fault, and the first write of a page would be a fault each.
      // Other processes use parts only.
      file.memory.load();
      made = true;
      return file;
    } finally {
      if (!made) {
        channel.close();
      }
    }
  }

  private static int descriptorOf(Path name) throws IOException {
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
      for (Path each : descriptors) {
        if (isLinkTo(each, name)) {
          return Integer.parseInt(each.getFileName().toString());
        }
      }
    }
    throw new IOException(name + " cannot be found among " + DESCRIPTORS);
  }

  private static boolean isLinkTo(Path descriptor, Path name) {
    try {
      return Files.readSymbolicLink(descriptor).toString().startsWith(name.toString());
    } catch (IOException e) {
      // Closed since it was listed.
      return false;
    }
  }

  private static void write(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /**
   * Opens the file that another process has made.
   *
   * @param address its {@link #address()}
   * @param bytes its size without the proof
   * @throws IOException if it is not here, or another file
   */
  static SharedFile open(byte[] address, int bytes) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(address);
    byte[] nonce = new byte[NONCE_BYTES];
    in.get(nonce);
    return open(new Key(in.getInt(), in.getInt()), nonce, bytes);
  }

  /**
   * Opens the file that another process has made.
   *
   * @param key its {@link #key()}
   * @param nonce its {@link #nonce()}
   * @param bytes its size without the proof
   * @throws IOException if it is not here, or another file
   */
  public static SharedFile open(Key key, byte[] nonce, int bytes) throws IOException {
    FileChannel channel =
        FileChannel.open(key.path(), StandardOpenOption.READ, StandardOpenOption.WRITE);
    boolean opened = false;
    try {
      byte[] found = new byte[NONCE_BYTES];
      channel.read(ByteBuffer.wrap(found), 0);
      if (!Arrays.equals(found, nonce) || channel.size() != NONCE_BYTES + (long) bytes) {
        throw new IOException(key.path() + " is another file here");
      }
      SharedFile file = new SharedFile(channel, key, nonce.clone(), bytes);
      opened = true;
      return file;
    } finally {
      if (!opened) {
        channel.close();
      }
    }
  }

  /**
   * Returns what another process of this host needs to open it, as long as this one has not called
   * {@link #keep}: the proof, the process and the descriptor, in network byte order.
   */
  byte[] address() {
    return ByteBuffer.allocate(ADDRESS_BYTES)
        .put(nonce)
        .putInt(key.process())
        .putInt(key.descriptor())
        .array();
  }

  /** Returns how another process finds it, as long as this one has not called {@link #keep}. */
  public Key key() {
    return key;
  }

  /** Returns whether the process that made the file still has it open. */
  boolean isOpenAtItsOwner() {
    try {
      return Files.readSymbolicLink(key.path()).toString().contains(name(nonce));
    } catch (IOException e) {
      return false;
    }
  }

  private static String name(byte[] nonce) {
    return "spark-collectives-" + HexFormat.of().formatHex(nonce);
  }

  /** Returns the size without the proof. */
  int bytes() {
    return memory.capacity() - NONCE_BYTES;
  }

  /** Returns the proof. */
  public byte[] nonce() {
    return nonce.clone();
  }

  /** Returns the memory after the proof, in native byte order. */
  ByteBuffer memory() {
    return memory.duplicate().position(NONCE_BYTES).slice().order(ByteOrder.nativeOrder());
  }

  /** Lets other processes write to it at any time, see {@link SharedMemory#asScratch}. */
  void setScratch() {
    scratch = true;
  }

  /** Returns whether other processes may write to it at any time. */
  boolean isScratch() {
    return scratch;
  }

  /** Returns what is to be acquired by whoever may use the memory when the file is closed. */
  LeasedMemory lease() {
    return lease;
  }

  /** Closes the file, but not the memory, which stays as long as a process has it mapped. */
  public void keep() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Closes the file, and frees the memory as soon as nobody has {@link #lease acquired} it. Who has
   * a view of it without a lease must not touch it any more.
   */
  @Override
  public void close() {
    keep();
    lease.close();
  }
}
