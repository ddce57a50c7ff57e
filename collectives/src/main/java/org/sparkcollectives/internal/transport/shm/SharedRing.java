package org.sparkcollectives.internal.transport.shm;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.sparkcollectives.internal.transport.ByteSink;

/**
 * A queue of segments in shared memory, from one writer to one reader.
 *
 * <pre>
 *     0  how many segments the writer has put in      (its own cache line)
 *   128  how many segments the reader has taken out   (its own cache line)
 *   256  the length of the segment in each slot
 *   384  whether the reader sleeps, see {@link SleepFlag}
 *   512  whether the writer sleeps
 *   640  the slots
 * </pre>
 *
 * <p>Each side writes its counter with release semantics after it is done with a slot, and reads
 * the other's with acquire semantics before it touches one. Both sides look again and again; one
 * that is about to sleep says so, and the other then wakes it.
 */
public final class SharedRing implements AutoCloseable {

  /** The length of an {@link #address}. */
  public static final int ADDRESS_BYTES = SharedFile.ADDRESS_BYTES;

  /** The most segments that may be on their way. */
  private static final int SLOTS = 4;

  private static final int WRITTEN = 0;
  private static final int READ = 128;
  private static final int LENGTHS = 256;
  private static final int READER_SLEEPS = 384;
  private static final int WRITER_SLEEPS = READER_SLEEPS + SleepFlag.BYTES;
  private static final int FIRST_SLOT = WRITER_SLEEPS + SleepFlag.BYTES;
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final SharedFile file;
  private final ByteBuffer memory;
  private final SleepFlag reader;
  private final SleepFlag writer;
  private final ByteBuffer[] slots = new ByteBuffer[SLOTS];
  private long written;
  private long taken;
  private long seen;
  private ByteBuffer current;

  /** Creates a view of the ring in {@code file}, which has {@link #bytes} bytes. */
  SharedRing(SharedFile file, int slotBytes) {
    this.file = file;
    this.memory = file.memory();
    this.reader = new SleepFlag(memory, READER_SLEEPS);
    this.writer = new SleepFlag(memory, WRITER_SLEEPS);
    for (int i = 0; i < SLOTS; i++) {
      slots[i] = memory.slice(FIRST_SLOT + i * slotBytes, slotBytes).order(ByteOrder.nativeOrder());
    }
  }

  /**
   * Creates a ring for segments, which another process can {@link #open} until {@link #keep}.
   *
   * @param folder in a file system that lies in memory
   * @throws IOException if there is no room for it, or no way to give it to another process
   */
  public static SharedRing create(Path folder) throws IOException {
    SharedFile file = SharedFile.create(folder, bytes(ByteSink.SEGMENT_BYTES));
    return new SharedRing(file, ByteSink.SEGMENT_BYTES);
  }

  /**
   * Tries whether there is room for a ring, and leaves nothing of it.
   *
   * @param folder in a file system that lies in memory
   * @return why there is none; empty if there is
   */
  public static String obstacle(Path folder) {
    try {
      create(folder).close();
      return "";
    } catch (IOException | UnsupportedOperationException e) {
      return e.toString();
    }
  }

  /**
   * Opens the ring that another process has made.
   *
   * @param address its {@link #address()}
   * @throws IOException if it is not here
   */
  public static SharedRing open(byte[] address) throws IOException {
    SharedFile file = SharedFile.open(address, bytes(ByteSink.SEGMENT_BYTES));
    file.keep();
    return new SharedRing(file, ByteSink.SEGMENT_BYTES);
  }

  /** Returns what another process needs to {@link #open} the ring. */
  public byte[] address() {
    return file.address();
  }

  /** Ends the time in which another process can open the ring. */
  public void keep() {
    file.keep();
  }

  /** Returns the size of a ring. */
  static int bytes(int slotBytes) {
    return FIRST_SLOT + SLOTS * slotBytes;
  }

  /** Returns whether the writer finds a free slot. */
  boolean hasFreeSlot() {
    if (written - seen < SLOTS) {
      return true;
    }
    seen = (long) LONGS.getAcquire(memory, READ);
    return written - seen < SLOTS;
  }

  /** Returns the free slot, empty, which {@link #publish} hands to the reader. */
  ByteBuffer free() {
    return slots[(int) (written % SLOTS)].clear();
  }

  /**
   * Hands the free slot to the reader, from its beginning to its position, and wakes it if it
   * sleeps.
   *
   * @param bell the writer's
   */
  void publish(Doorbell bell) {
    int slot = (int) (written % SLOTS);
    memory.putInt(LENGTHS + slot * Integer.BYTES, slots[slot].position());
    written++;
    LONGS.setRelease(memory, WRITTEN, written);
    SleepFlag.publish();
    bell.ring(reader.take());
  }

  /** Returns what is left of the segment that the reader is at; null if none has come. */
  ByteBuffer next() {
    if (current == null) {
      if (taken == seen) {
        seen = (long) LONGS.getAcquire(memory, WRITTEN);
      }
      if (taken == seen) {
        return null;
      }
      int slot = (int) (taken % SLOTS);
      current = slots[slot].clear().limit(memory.getInt(LENGTHS + slot * Integer.BYTES));
    }
    return current;
  }

  /**
   * Frees the slot that the reader is at, if nothing of it is left, and wakes the writer if it
   * sleeps.
   *
   * @param bell the reader's
   */
  void release(Doorbell bell) {
    if (current != null && !current.hasRemaining()) {
      current = null;
      taken++;
      LONGS.setRelease(memory, READ, taken);
      SleepFlag.publish();
      bell.ring(writer.take());
    }
  }

  /**
   * Publishes that the reader, whose bell this is, is about to sleep; returns whether that is news.
   */
  boolean readerSleeps(Doorbell bell) {
    Doorbell.Key key = bell.key();
    return key != null && reader.set(key);
  }

  /** Publishes that the reader does not sleep any more. */
  void readerAwake() {
    reader.clear();
  }

  /**
   * Publishes that the writer, whose bell this is, is about to sleep; returns whether that is news.
   */
  boolean writerSleeps(Doorbell bell) {
    Doorbell.Key key = bell.key();
    return key != null && writer.set(key);
  }

  /** Publishes that the writer does not sleep any more. */
  void writerAwake() {
    writer.clear();
  }

  /** Frees the memory; no thread of this process may use the ring any more. */
  @Override
  public void close() {
    file.close();
  }
}
