package org.sparkcollectives.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * An append-only file of entries that several processes write, one at a time under its lock.
 *
 * <pre>
 *   file:  magic of 8 bytes | entries
 *   entry: length i32 | CRC-32C of the rest i32 | the rest
 * </pre>
 *
 * <p>If an entry is incomplete while the lock is held, its writer was killed; the next writer cuts
 * it off. Not thread-safe. A thread that uses it must not be interrupted, because that closes the
 * channel.
 */
final class FileLog implements AutoCloseable {

  private static final byte[] MAGIC = "SPKSTOR1".getBytes(StandardCharsets.US_ASCII);
  private static final int HEAD_BYTES = 2 * Integer.BYTES;

  private final Path path;
  private final FileChannel channel;
  private long end;
  private boolean cutShort;

  FileLog(Path path) {
    this.path = path;
    try {
      channel =
          FileChannel.open(
              path,
              Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
              onlyForItsOwner(path));
    } catch (NoSuchFileException e) {
      throw new StoreException(
          "Cannot open FileStore " + path + ": the folder " + path.getParent() + " does not exist",
          e);
    } catch (AccessDeniedException e) {
      throw new StoreException(
          "Cannot open FileStore " + path + ": this process may not write it", e);
    } catch (IOException e) {
      throw new StoreException(
          "Cannot open FileStore "
              + path
              + ": "
              + (Files.isDirectory(path) ? "it is a folder, and must be a file" : e.getMessage()),
          e);
    }
  }

  /**
   * Returns the attributes that let only the owner read the file: whoever can read a store can join
   * its groups.
   */
  private static FileAttribute<?>[] onlyForItsOwner(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        }
        : new FileAttribute<?>[0];
  }

  /**
   * Locks the file, unless another process holds a lock that excludes this one.
   *
   * @param toWrite whether the lock excludes readers too
   * @return null if another process holds the lock
   */
  FileLock tryLock(boolean toWrite) throws IOException {
    try {
      return channel.tryLock(0, Long.MAX_VALUE, !toWrite);
    } catch (OverlappingFileLockException e) {
      // Another class loader of this process has loaded a copy of this class, which holds the lock.
      return null;
    }
  }

  /**
   * Passes the entries since the last call to {@code reader}, each in a buffer of its own. The
   * caller must hold the lock.
   *
   * @throws StoreException if the file is not such a log, or damaged
   */
  void read(Consumer<ByteBuffer> reader) throws IOException {
    long size = channel.size();
    if (size < end) {
      throw new StoreException(
          "FileStore "
              + path
              + " was cut short by somebody else: "
              + end
              + " bytes were read of it, and it has "
              + size
              + " now. Remove it, and start all ranks");
    }
    cutShort = false;
    if (end == 0 && size > 0) {
      byte[] magic = new byte[(int) Math.min(size, MAGIC.length)];
      readFully(ByteBuffer.wrap(magic), 0);
      if (!Arrays.equals(magic, Arrays.copyOf(MAGIC, magic.length))) {
        throw new StoreException(
            "Cannot open FileStore " + path + ": the file exists and is not a store");
      }
      cutShort = size < MAGIC.length;
      end = cutShort ? 0 : MAGIC.length;
    }
    while (!cutShort && end < size) {
      ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
      if (size - end < HEAD_BYTES) {
        cutShort = true;
        return;
      }
      readFully(head, end);
      int length = head.getInt();
      int checksum = head.getInt();
      if (length <= 0) {
        throw damaged();
      }
      if (size - end - HEAD_BYTES < length) {
        cutShort = true;
        return;
      }
      ByteBuffer entry = ByteBuffer.allocate(length);
      readFully(entry, end + HEAD_BYTES);
      if (checksum(entry) != checksum) {
        throw damaged();
      }
      end += HEAD_BYTES + length;
      reader.accept(entry);
    }
  }

  private StoreException damaged() {
    return new StoreException(
        "FileStore " + path + " is damaged at byte " + end + ". Remove it, and start all ranks");
  }

  private void readFully(ByteBuffer target, long position) throws IOException {
    long at = position;
    while (target.hasRemaining()) {
      int read = channel.read(target, at);
      if (read < 0) {
        throw damaged();
      }
      at += read;
    }
    target.flip();
  }

  /**
   * Appends an entry, which counts as read. The caller must hold the write lock, and must have read
   * everything under it.
   */
  void append(ByteBuffer... parts) throws IOException {
    if (cutShort) {
      channel.truncate(end);
      cutShort = false;
    }
    long start = end;
    try {
      if (end == 0) {
        writeFully(ByteBuffer.wrap(MAGIC));
      }
      int length = Arrays.stream(parts).mapToInt(ByteBuffer::remaining).sum();
      writeFully(ByteBuffer.allocate(HEAD_BYTES).putInt(length).putInt(checksum(parts)).flip());
      for (ByteBuffer part : parts) {
        writeFully(part.duplicate());
      }
    } catch (IOException e) {
      end = start;
      cutShort = true;
      throw e;
    }
  }

  private void writeFully(ByteBuffer source) throws IOException {
    while (source.hasRemaining()) {
      end += channel.write(source, end);
    }
  }

  private static int checksum(ByteBuffer... parts) {
    CRC32C checksum = new CRC32C();
    for (ByteBuffer part : parts) {
      checksum.update(part.duplicate());
    }
    return (int) checksum.getValue();
  }

  /** Removes the file. The caller must hold the write lock, which has no effect afterwards. */
  void delete() throws IOException {
    Files.deleteIfExists(path);
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new StoreException("Cannot close FileStore " + path, e);
    }
  }
}
