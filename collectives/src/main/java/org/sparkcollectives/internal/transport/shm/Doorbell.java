package org.sparkcollectives.internal.transport.shm;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wakes a sleeping rank from other JVMs with which it shares memory: each rank has a pipe, into
 * which the others write a byte.
 *
 * <p>Others open the pipe as they open a {@link SharedFile}, through the descriptor of the one that
 * has it, so whoever shares the memory has the bell, too. It needs no address, no port, and no
 * connection between any two ranks; nothing of it has a name, so that no kill can leave it behind.
 * A byte through a pipe wakes a thread in about the time of an unpark within a JVM; one through a
 * socket of the loopback address takes twice as long, most of it in the one that sends, and through
 * an event loop of Netty two threads more have to be woken.
 *
 * <p><b>When to ring</b> is for {@link SleepFlag} to say: each byte answers a flag that was set.
 *
 * <p><b>Who rings is never held up.</b> The byte is written to a pipe that blocks when it is full,
 * at 4 KiB at the least. It never is: a flag that was taken is set again only after the pipe was
 * emptied ({@link #silence}), so that a pipe has two bytes for each flag of its owner at the most,
 * one for its being set before that and one for after, and one for each rank that has taken a flag
 * and not yet written; with 64 ranks, some hundred. That holds for an owner that is stopped, too,
 * however much is published meanwhile. One that has died is not reached: its pipe is gone, or kept
 * by this side alone, which then writes at most one more byte for each flag that was set at the
 * time.
 *
 * <p><b>What is written to is the pipe.</b> The number of a descriptor says nothing once its owner
 * has closed it, so the pipe's own number, which the kernel gives out, is compared before and after
 * it is opened: a file that has taken the descriptor's place meanwhile is never written to.
 *
 * <p>Where there is no such bell, because descriptors are used up or {@code /proc} is not there,
 * ranks sleep for short times.
 *
 * <p>One thread waits and rings; any may close.
 */
public final class Doorbell implements AutoCloseable {

  /**
   * The address of another rank's bell.
   *
   * @param process the id of the process that has it
   * @param descriptor its file descriptor there
   * @param pipe the kernel's number of the pipe
   */
  public record Key(int process, int descriptor, long pipe) {

    private String path() {
      return "/proc/" + process + "/fd/" + descriptor;
    }

    private boolean isThere() {
      return (PIPE_NAME + pipe + "]").equals(link(Path.of(path())));
    }
  }

  private static final String PIPE_NAME = "pipe:[";
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final Path DESCRIPTOR_STATES = Path.of("/proc/self/fdinfo");

  /**
   * The number of random states after which a descriptor that had them all is certainly the right
   * one.
   */
  private static final int PROOFS = 16;

  private static final String FLAGS = "flags:";
  private static final int OCTAL = 8;
  private static final int NON_BLOCKING = 04000;
  private static final int SILENCE_BYTES = 256;
  private static final Logger LOG = LoggerFactory.getLogger(Doorbell.class);

  private final Consumer<Runnable> logging;
  private final Map<Key, RandomAccessFile> others = new HashMap<>();
  private Pipe pipe;
  private Key key;
  private ByteBuffer heard;
  private boolean unavailable;
  private boolean closed;
  private long rung;

  /**
   * Creates a bell, which takes nothing before it is first needed.
   *
   * @param logging runs what writes to the log, so that its lines name the rank
   */
  public Doorbell(Consumer<Runnable> logging) {
    this.logging = logging;
  }

  // What its owner does.

  /** Returns whether others can ring; makes what they need at the first call. */
  public synchronized boolean isOpen() {
    if (pipe == null && !closed && !unavailable) {
      open();
    }
    return pipe != null;
  }

  private void open() {
    try {
      Pipe made = Pipe.open();
      try {
        made.source().configureBlocking(false);
        key = keyOf(made);
        heard = ByteBuffer.allocateDirect(SILENCE_BYTES);
        pipe = made;
      } finally {
        if (pipe == null) {
          close(made);
        }
      }
    } catch (IOException | RuntimeException e) {
      unavailable = true;
      logging.accept(
          () -> LOG.info("A rank that waits for another JVM looks now and then: {}", e.toString()));
    }
  }

  /**
   * Returns what is readable when somebody has rung.
   *
   * @throws ClosedChannelException if the bell is not open
   */
  public synchronized SelectableChannel channel() throws ClosedChannelException {
    if (pipe == null) {
      throw new ClosedChannelException();
    }
    return pipe.source();
  }

  /** Returns how others find it; null if it is closed. */
  public synchronized Key key() {
    return pipe == null ? null : key;
  }

  /**
   * Ends the ringing: what has rung so far does not wake any more. To be called before flags are
   * set anew.
   *
   * @return whether somebody had rung
   */
  public synchronized boolean silence() {
    if (pipe == null) {
      return false;
    }
    long before = rung;
    try {
      int read = SILENCE_BYTES;
      while (read == SILENCE_BYTES) {
        read = pipe.source().read(heard.clear());
        rung += Math.max(0, read);
      }
    } catch (IOException e) {
      // The thread was interrupted, which closes the pipe: it looks now and then from here on.
      unavailable = true;
      close(pipe);
      pipe = null;
    }
    return rung > before;
  }

  /** Returns how many bells the owner has heard. */
  public synchronized long rung() {
    return rung;
  }

  // What it does to others.

  /**
   * Wakes another rank; null for none. Does not block.
   *
   * @return whether it has been woken
   */
  public boolean ring(Key other) {
    return other != null && write(other);
  }

  private synchronized boolean write(Key other) {
    if (closed) {
      return false;
    }
    try {
      if (!others.containsKey(other)) {
        others.put(other, null);
        others.put(other, find(other));
      }
      RandomAccessFile bell = others.get(other);
      if (bell != null) {
        bell.write(1);
      }
      return bell != null;
    } catch (IOException e) {
      // It has ended, or looks for itself before long.
      logging.accept(() -> LOG.debug("The bell {} cannot be rung: {}", other, e.toString()));
      return false;
    }
  }

  /** Opens a bell to write to; for reading, too, because such an open never waits for a reader. */
  private static RandomAccessFile find(Key other) throws IOException {
    if (!other.isThere()) {
      throw new IOException("it is gone");
    }
    RandomAccessFile found = new RandomAccessFile(other.path(), "rw");
    boolean same = false;
    try {
      same = other.isThere();
    } finally {
      if (!same) {
        found.close();
      }
    }
    if (!same) {
      throw new IOException("it is gone");
    }
    return found;
  }

  /** Ends all ringing: nobody rings this rank any more, and it rings nobody. */
  @Override
  public synchronized void close() {
    closed = true;
    if (pipe != null) {
      close(pipe);
      pipe = null;
    }
    for (RandomAccessFile each : others.values()) {
      if (each != null) {
        close(each);
      }
    }
    others.clear();
  }

  private void close(Pipe pipe) {
    close(pipe.source());
    close(pipe.sink());
  }

  private void close(Closeable each) {
    try {
      each.close();
    } catch (IOException e) {
      logging.accept(() -> LOG.debug("A part of a bell could not be closed", e));
    }
  }

  // Which descriptor a pipe has, which Java does not say.

  /**
   * Sets one end of the pipe to states that are drawn at random, and finds the descriptor that the
   * kernel shows in all of them.
   */
  private static Key keyOf(Pipe made) throws IOException {
    List<Path> left = pipes();
    Random random = new Random();
    for (int i = 0; i < PROOFS && !left.isEmpty(); i++) {
      boolean blocking = random.nextBoolean();
      made.sink().configureBlocking(blocking);
      left.removeIf(each -> isBlocking(each) != blocking);
    }
    if (left.size() != 1) {
      throw new IOException("a pipe cannot be found among " + DESCRIPTORS);
    }
    Path descriptor = left.get(0);
    String name = link(descriptor);
    return new Key(
        (int) ProcessHandle.current().pid(),
        Integer.parseInt(descriptor.getFileName().toString()),
        Long.parseLong(name.substring(PIPE_NAME.length(), name.length() - 1)));
  }

  private static List<Path> pipes() throws IOException {
    List<Path> pipes = new ArrayList<>();
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
      for (Path each : descriptors) {
        if (link(each).startsWith(PIPE_NAME)) {
          pipes.add(each);
        }
      }
    }
    return pipes;
  }

  /** Returns where a descriptor leads; empty if it has been closed since. */
  private static String link(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "";
    }
  }

  private static boolean isBlocking(Path descriptor) {
    try {
      for (String line : Files.readAllLines(DESCRIPTOR_STATES.resolve(descriptor.getFileName()))) {
        if (line.startsWith(FLAGS)) {
          int flags = Integer.parseInt(line.substring(FLAGS.length()).strip(), OCTAL);
          return (flags & NON_BLOCKING) == 0;
        }
      }
      return false;
    } catch (IOException e) {
      return false;
    }
  }
}
