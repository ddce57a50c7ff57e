package org.sparkcollectives.internal.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.EventCount;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.PolledMemory;
import org.sparkcollectives.internal.transport.SharedStaging.Phase;
import org.sparkcollectives.internal.transport.tcp.SocketWait;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.Threads;

/** Ranks of one host that sleep until all others have done their part in memory that all see. */
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class SleepingNeighboursTest {

  /** Far longer than it takes to be woken; whoever sleeps so long fails the test. */
  private static final Duration TOO_LONG = Duration.ofSeconds(20);

  private static final int RANKS = 2;
  private static final int OPERATIONS = 20_000;
  private static final int AHEAD = 3;
  private static final long ENOUGH_NANOS = TimeUnit.SECONDS.toNanos(4);

  /** About as long as the others take, so that what is awaited often comes amid going to sleep. */
  private static final Duration SPIN = Duration.ofNanos(3_000);

  private static final int MOST_LOOKS = 200;

  private static final Cancellation NEVER =
      new Cancellation() {
        @Override
        public void check() {}

        @Override
        public void interrupted() {}
      };

  private final AtomicInteger operations = new AtomicInteger(OPERATIONS);
  private final SocketWait[] sockets = new SocketWait[RANKS];

  private interface Work {
    void run(int operation);
  }

  private record Rank(int rank, int size) implements Peers {

    @Override
    public Pair pair(int peer) {
      return new Pair() {
        @Override
        public int peer() {
          return peer;
        }

        @Override
        public void send(HostTensor tensor) {
          throw new AssertionError("no message is needed");
        }

        @Override
        public void queue(HostTensor tensor) {
          throw new AssertionError("no message is needed");
        }

        @Override
        public void receive(HostTensor tensor) {
          throw new AssertionError("no message is needed");
        }

        @Override
        public boolean hasMessage() {
          return false;
        }

        @Override
        public void receiveAndReduce(
            HostTensor accumulator, org.sparkcollectives.internal.kernel.ReduceKernel kernel) {
          throw new AssertionError("no message is needed");
        }
      };
    }

    @Override
    public void flush() {}
  }

  /** One rank's waits, which soon become a sleep. */
  private final class Sleeper implements PolledMemory {
    private final SleepFlags flags;
    private final SocketWait wait =
        new SocketWait(new Doorbell(Runnable::run), Duration.ZERO, TOO_LONG, TOO_LONG);
    private final EventCount events = new EventCount(SPIN, wait);

    Sleeper(ByteBuffer memory, int rank) {
      flags = new SleepFlags(memory, rank, RANKS, wait.bell(), Thread::yield);
      wait.register(this);
      sockets[rank] = wait;
    }

    void until(BooleanSupplier condition) {
      long start = System.nanoTime();
      events.await(condition, NEVER);
      if (System.nanoTime() - start >= TOO_LONG.toNanos()) {
        throw new AssertionError("nobody has woken this rank");
      }
    }

    @Override
    public boolean isAwaited() {
      return true;
    }

    @Override
    public boolean announceSleep() {
      return flags.set();
    }

    @Override
    public void retractSleep() {
      flags.clear();
    }
  }

  private void inTurns(int rank, long end, Random pauses, Work work) {
    for (int i = 0; i < operations.get(); i++) {
      if (rank == 0 && System.nanoTime() - end > 0) {
        operations.compareAndSet(OPERATIONS, Math.min(OPERATIONS, i + AHEAD));
      }
      if (pauses.nextInt(100) == 0) {
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(pauses.nextInt(500)));
      }
      for (int looks = pauses.nextInt(MOST_LOOKS); looks > 0; looks--) {
        Thread.onSpinWait();
      }
      work.run(i);
    }
  }

  private void close() {
    for (int rank = 0; rank < RANKS; rank++) {
      if (sockets[rank] != null) {
        assertThat(sockets[rank].bell().rung()).as("bells for rank %d", rank).isPositive();
        sockets[rank].close();
      }
    }
  }

  @Test
  void whoPublishesInASlotWakesThoseThatWaitForIt() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    long end = System.nanoTime() + ENOUGH_NANOS;
    ByteBuffer memory = zeros(SlotTable.bytes(RANKS));
    ByteBuffer flags = zeros(SleepFlags.bytes(RANKS));
    try (Threads threads = new Threads()) {
      threads.runTogether(
          RANKS,
          rank -> {
            Sleeper sleeper = new Sleeper(flags, rank);
            ShmSlots slots =
                new ShmSlots(
                    new SlotTable(memory, rank, RANKS),
                    new Rank(rank, RANKS),
                    sleeper::until,
                    sleeper.flags::changed);
            inTurns(
                rank,
                end,
                new Random(seed + rank),
                i -> {
                  slots.in(new OperationHeader(OpType.BARRIER, i, DType.UINT8, 0));
                  slots.publish(List.of());
                  slots.awaitAll();
                });
            return null;
          });
    } finally {
      close();
    }
  }

  @Test
  void whoReachesAPhaseWithItsChunkWakesThoseThatWaitForIt(@TempDir Path folder) throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    long end = System.nanoTime() + ENOUGH_NANOS;
    ByteBuffer flags = zeros(SleepFlags.bytes(RANKS));
    SharedFile file = SharedFile.create(folder, ShmStaging.bytes(RANKS));
    try (Threads threads = new Threads()) {
      threads.runTogether(
          RANKS,
          rank -> {
            Sleeper sleeper = new Sleeper(flags, rank);
            ShmStaging staging =
                new ShmStaging(file, rank, RANKS, sleeper::until, sleeper.flags::changed);
            inTurns(
                rank,
                end,
                new Random(seed + rank),
                i -> {
                  for (Phase phase : Phase.values()) {
                    staging.reached(phase, 0);
                    for (int distance = 1; distance < RANKS; distance++) {
                      staging.await((rank + distance) % RANKS, phase, 0);
                    }
                  }
                  staging.finish(1);
                });
            return null;
          });
    } finally {
      file.close();
      close();
    }
  }

  private static ByteBuffer zeros(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }
}
