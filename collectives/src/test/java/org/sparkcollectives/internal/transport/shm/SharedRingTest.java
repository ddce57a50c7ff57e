package org.sparkcollectives.internal.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.Threads;

/** A writer and a reader, each with the file mapped for itself, as two processes have it. */
@EnabledOnOs(OS.LINUX)
class SharedRingTest {

  private static final int SEGMENTS = 200_000;
  private static final int SLOT_BYTES = 256;

  /** Nobody sleeps, so it does not ring. */
  private final Doorbell bell = new Doorbell(Runnable::run);

  /** How many segments there are: the writer says so before it writes the last. */
  private final AtomicInteger count = new AtomicInteger(SEGMENTS);

  @Test
  void everySegmentArrivesOnceWholeAndInOrder(@TempDir Path folder) throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    SharedFile file = SharedFile.create(folder, SharedRing.bytes(SLOT_BYTES));
    SharedFile same = SharedFile.open(file.key(), file.nonce(), SharedRing.bytes(SLOT_BYTES));
    try (SharedRing writer = new SharedRing(file, SLOT_BYTES);
        SharedRing reader = new SharedRing(same, SLOT_BYTES);
        Threads threads = new Threads()) {
      threads.runTogether(
          2,
          side -> {
            if (side == 0) {
              write(writer, new Random(seed));
            } else {
              read(reader, new Random(seed), new Random(~seed));
            }
            return null;
          });
      assertThat(reader.next()).isNull();
      assertThat(writer.hasFreeSlot()).isTrue();
    }
  }

  private void write(SharedRing ring, Random lengths) {
    // Who yields to others' work takes long for each segment.
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    for (int i = 0; i < count.get(); i++) {
      if (System.nanoTime() - end > 0) {
        count.set(i + 1);
      }
      Spinning.until(ring::hasFreeSlot);
      ByteBuffer free = ring.free();
      free.putInt(i);
      for (int left = lengths.nextInt(SLOT_BYTES - Integer.BYTES); left > 0; left--) {
        free.put((byte) (i + left));
      }
      ring.publish(bell);
    }
  }

  private void read(SharedRing ring, Random lengths, Random pauses) {
    for (int i = 0; i < count.get(); i++) {
      Spinning.until(() -> ring.next() != null);
      ByteBuffer segment = ring.next();
      int length = lengths.nextInt(SLOT_BYTES - Integer.BYTES);
      boolean whole = segment.remaining() == Integer.BYTES + length && segment.getInt() == i;
      for (int left = length; whole && left > 0; left--) {
        if (pauses.nextInt(100) == 0) {
          // Nothing is freed before all of it was read.
          ring.release(bell);
          whole = ring.next().remaining() == left;
        }
        whole &= segment.get() == (byte) (i + left);
      }
      if (!whole) {
        throw new AssertionError("segment " + i + " is not what was written: " + segment);
      }
      ring.release(bell);
    }
  }
}
