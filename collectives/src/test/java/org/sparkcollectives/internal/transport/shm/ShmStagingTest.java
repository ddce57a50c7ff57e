package org.sparkcollectives.internal.transport.shm;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.SharedStaging;
import org.sparkcollectives.internal.transport.SharedStaging.Phase;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.Threads;

/**
 * Ranks that pass chunks through their staging buffers, in operations of any length, one after the
 * other.
 */
@EnabledOnOs(OS.LINUX)
class ShmStagingTest {

  private static final int RANKS = 3;
  private static final int OPERATIONS = 4000;

  /** A rank is ahead of another by an operation, and those without chunks, at the most. */
  private static final int AHEAD = 100;

  private static final int MOST_CHUNKS = 9;
  private static final int LONGS = 16;

  /** How many operations there are: rank 0 says so before another rank has come to the last. */
  private final AtomicInteger count = new AtomicInteger(OPERATIONS);

  @Test
  void aChunkIsSeenWholeAndItsBufferIsUsedAgainOnlyWhenAllHaveCopiedItOut(@TempDir Path folder)
      throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    SharedFile file = SharedFile.create(folder, ShmStaging.bytes(RANKS));
    try (Threads threads = new Threads()) {
      threads.runTogether(
          RANKS,
          rank -> {
            run(new ShmStaging(file, rank, RANKS, Spinning::until, () -> {}), new Random(seed));
            return null;
          });
    } finally {
      file.close();
    }
  }

  private void run(SharedStaging staging, Random lengths) {
    // Ranks that yield to others' work take long for each operation.
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    for (int operation = 0; operation < count.get(); operation++) {
      if (staging.rank() == 0 && System.nanoTime() - end > 0) {
        count.compareAndSet(OPERATIONS, Math.min(OPERATIONS, operation + AHEAD));
      }
      int chunks = lengths.nextInt(MOST_CHUNKS + 1);
      for (int chunk = 0; chunk < chunks; chunk++) {
        give(staging, operation, chunk);
        for (int distance = 1; distance < RANKS; distance++) {
          take(staging, (staging.rank() + distance) % RANKS, operation, chunk);
        }
        staging.reached(Phase.REDUCED, chunk);
        staging.reached(Phase.COPIED_OUT, chunk);
      }
      staging.finish(chunks);
    }
  }

  private static void give(SharedStaging staging, int operation, int chunk) {
    for (int distance = 1; distance < RANKS; distance++) {
      int peer = (staging.rank() + distance) % RANKS;
      staging.await(peer, Phase.COPIED_OUT, chunk - staging.depth());
    }
    buffer(staging, staging.rank(), chunk).copyFrom(values(operation, chunk, staging.rank()));
    staging.reached(Phase.COPIED_IN, chunk);
  }

  private static void take(SharedStaging staging, int peer, int operation, int chunk) {
    staging.await(peer, Phase.COPIED_IN, chunk);
    long[] found = new long[LONGS];
    buffer(staging, peer, chunk).copyTo(found);
    if (!Arrays.equals(found, values(operation, chunk, peer))) {
      throw new AssertionError(
          "operation " + operation + ", chunk " + chunk + " of rank " + peer + " is another");
    }
  }

  /** The last elements of the buffer: the next one begins behind them. */
  private static HostTensor buffer(SharedStaging staging, int rank, int chunk) {
    HostTensor all = staging.buffer(rank, chunk, DType.INT64);
    return all.slice(all.count() - LONGS, LONGS);
  }

  private static long[] values(int operation, int chunk, int rank) {
    long[] values = new long[LONGS];
    for (int i = 0; i < LONGS; i++) {
      values[i] = (((long) operation * MOST_CHUNKS + chunk) * RANKS + rank) * LONGS + i;
    }
    return values;
  }
}
