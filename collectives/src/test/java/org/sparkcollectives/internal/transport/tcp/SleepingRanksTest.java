package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.EventCount;
import org.sparkcollectives.internal.transport.PolledMemory;
import org.sparkcollectives.internal.transport.shm.Doorbell;
import org.sparkcollectives.internal.transport.shm.RingSink;
import org.sparkcollectives.internal.transport.shm.RingSource;
import org.sparkcollectives.internal.transport.shm.SharedRing;
import org.sparkcollectives.testing.Threads;

/** Two ranks that sleep until the other has changed the memory that they share. */
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class SleepingRanksTest {

  /** Far longer than it takes to be woken; whoever sleeps so long fails the test. */
  private static final Duration TOO_LONG = Duration.ofSeconds(20);

  private static final int SEGMENTS = 50_000;
  private static final long ENOUGH_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** About as long as the others take, so that what is awaited often comes amid going to sleep. */
  private static final Duration SPIN = Duration.ofNanos(3_000);

  private static final int MOST_LOOKS = 200;

  /** Ends a wait when the other rank has failed, and so the test is over. */
  private static final Cancellation INTERRUPT =
      new Cancellation() {
        @Override
        public void check() {}

        @Override
        public void interrupted() {
          throw new CancellationException("this rank was interrupted");
        }
      };

  /** How many segments there are: the writer says so before it writes the last. */
  private final AtomicLong count = new AtomicLong(SEGMENTS);

  /** One rank's waits, which soon become a sleep. */
  private static final class Waits implements AutoCloseable {
    private final SocketWait sockets =
        new SocketWait(new Doorbell(Runnable::run), Duration.ZERO, TOO_LONG, TOO_LONG);
    private final EventCount events = new EventCount(SPIN, sockets);

    void until(BooleanSupplier condition) {
      long start = System.nanoTime();
      events.await(condition, INTERRUPT);
      if (System.nanoTime() - start >= TOO_LONG.toNanos()) {
        throw new AssertionError("nobody has woken this rank");
      }
    }

    @Override
    public void close() {
      sockets.close();
    }
  }

  @Test
  void aReaderOfAnEmptyRingAndAWriterToAFullOneAreWoken(@TempDir Path folder) throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    try (SharedRing written = SharedRing.create(folder);
        SharedRing read = SharedRing.open(written.address());
        Waits writing = new Waits();
        Waits reading = new Waits();
        Threads threads = new Threads()) {
      RingSink sink = new RingSink(written, writing.sockets.bell());
      RingSource source = new RingSource(read, reading.sockets.bell());
      writing.sockets.register(sink);
      reading.sockets.register(source);
      threads.runTogether(
          2,
          side -> {
            Random pauses = new Random(seed + side);
            if (side == 0) {
              write(sink, writing, pauses);
            } else {
              read(source, reading, pauses);
            }
            return null;
          });
      assertThat(writing.sockets.bell().rung()).as("bells for the writer").isPositive();
      assertThat(reading.sockets.bell().rung()).as("bells for the reader").isPositive();
    }
  }

  private void write(RingSink sink, Waits waits, Random pauses) {
    long end = System.nanoTime() + ENOUGH_NANOS;
    for (long i = 0; i < count.get(); i++) {
      if (System.nanoTime() - end > 0) {
        count.set(Math.min(count.get(), i + 1));
      }
      long number = i;
      waits.until(() -> sink.offer(Long.BYTES, segment -> segment.putLong(number)));
      sink.drain();
      pause(pauses);
    }
  }

  private void read(RingSource source, Waits waits, Random pauses) {
    source.want(true);
    for (long i = 0; i < count.get(); i++) {
      long number = i;
      waits.until(
          () ->
              source.read(
                  segment -> {
                    if (segment.getLong() != number) {
                      throw new AssertionError("another segment than " + number);
                    }
                  }));
      pause(pauses);
    }
  }

  /** Now and then so long that the other rank sleeps, or fills the ring. */
  private static void pause(Random random) {
    if (random.nextInt(100) == 0) {
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(500)));
    }
    for (int i = random.nextInt(MOST_LOOKS); i > 0; i--) {
      Thread.onSpinWait();
    }
  }

  /** Memory of a rank that changes it, but does not ring. */
  private static final class Mute implements PolledMemory {
    private boolean announced;

    @Override
    public boolean isAwaited() {
      return true;
    }

    @Override
    public boolean announceSleep() {
      boolean news = !announced;
      announced = true;
      return news;
    }

    @Override
    public void retractSleep() {
      announced = false;
    }
  }

  @Test
  void aBellThatDoesNotComeAgainAndAgainIsNotReliedOnUntilOneComes() {
    Duration millisecond = Duration.ofMillis(1);
    try (SocketWait sockets =
        new SocketWait(new Doorbell(Runnable::run), Duration.ZERO, millisecond, millisecond)) {
      EventCount events = new EventCount(Duration.ZERO, sockets);
      sockets.register(new Mute());
      assertThat(sockets.reliesOnBell()).isTrue();
      for (int i = 0; i < 10; i++) {
        int[] looks = new int[1];
        // The first is followed by another, because the sleep is announced; then it sleeps.
        events.await(() -> ++looks[0] > 2, INTERRUPT);
      }
      assertThat(sockets.reliesOnBell()).as("relies on a bell that never came").isFalse();
      try (Doorbell other = new Doorbell(Runnable::run)) {
        other.ring(sockets.bell().key());
      }
      int[] looks = new int[1];
      events.await(() -> ++looks[0] > 2, INTERRUPT);
      assertThat(sockets.reliesOnBell()).isTrue();
    }
  }
}
