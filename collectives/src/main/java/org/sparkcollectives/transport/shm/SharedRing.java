package org.sparkcollectives.transport.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

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

  /** How many segments may be on their way. */
  public static final int SLOTS = 4;

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

  /** The ring in {@code file}, which has {@link #bytes} bytes. */
  public SharedRing(SharedFile file, int slotBytes) {
    this.file = file;
    this.memory = file.memory();
    this.reader = new SleepFlag(memory, READER_SLEEPS);
    this.writer = new SleepFlag(memory, WRITER_SLEEPS);
    for (int i = 0; i < SLOTS; i++) {
      slots[i] = memory.slice(FIRST_SLOT + i * slotBytes, slotBytes).order(ByteOrder.nativeOrder());
    }
  }

  /** The size of a ring. */
  public static int bytes(int slotBytes) {
    return FIRST_SLOT + SLOTS * slotBytes;
  }

  /** Whether the writer finds a free slot. */
  public boolean hasRoom() {
    if (written - seen < SLOTS) {
      return true;
    }
    seen = (long) LONGS.getAcquire(memory, READ);
    return written - seen < SLOTS;
  }

  /** The free slot, empty, which {@link #publish} hands to the reader. */
  public ByteBuffer free() {
    return slots[(int) (written % SLOTS)].clear();
  }

  /**
   * Hands the free slot to the reader, from its beginning to its position, and wakes it if it
   * sleeps.
   *
   * @param bell the writer's
   */
  public void publish(Doorbell bell) {
    int slot = (int) (written % SLOTS);
    memory.putInt(LENGTHS + slot * Integer.BYTES, slots[slot].position());
    written++;
    LONGS.setRelease(memory, WRITTEN, written);
    SleepFlag.publish();
    bell.ring(reader.take());
  }

  /** What is left of the segment that the reader is at; null if none has come. */
  public ByteBuffer next() {
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
  public void release(Doorbell bell) {
    if (current != null && !current.hasRemaining()) {
      current = null;
      taken++;
      LONGS.setRelease(memory, READ, taken);
      SleepFlag.publish();
      bell.ring(writer.take());
    }
  }

  /** Says that the reader, whose bell this is, is about to sleep; whether that is news. */
  public boolean readerSleeps(Doorbell bell) {
    Doorbell.Key key = bell.key();
    return key != null && reader.set(key);
  }

  /** The reader does not sleep any more. */
  public void readerAwake() {
    reader.clear();
  }

  /** Says that the writer, whose bell this is, is about to sleep; whether that is news. */
  public boolean writerSleeps(Doorbell bell) {
    Doorbell.Key key = bell.key();
    return key != null && writer.set(key);
  }

  /** The writer does not sleep any more. */
  public void writerAwake() {
    writer.clear();
  }

  /** Gives up the memory; nobody of this process may use the ring any more. */
  @Override
  public void close() {
    file.close();
  }
}
