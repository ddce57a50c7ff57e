package org.sparkcollectives.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.testing.Threads;

/** Tests what ends a wait, apart from its condition. */
@Timeout(30)
class EventCountTest {

  /** A cancellation that nobody signals, or that an interrupt brings. */
  private static final class Cancelled implements Cancellation {
    private volatile boolean cancelled;

    @Override
    public void check() {
      if (cancelled) {
        throw new CancellationException("the group has ended");
      }
    }

    @Override
    public void interrupted() {
      cancelled = true;
    }
  }

  /** Sleeps far longer than it takes to be woken; who sleeps all of it was not woken. */
  private static final class WokenOnly implements Parking {
    private static final long TOO_LONG = TimeUnit.SECONDS.toNanos(10);

    @Override
    public void park(long nanos) {
      long start = System.nanoTime();
      LockSupport.parkNanos(this, TOO_LONG);
      if (System.nanoTime() - start >= TOO_LONG) {
        throw new AssertionError("nobody has woken this thread");
      }
    }

    @Override
    public void unpark(Thread thread) {
      LockSupport.unpark(thread);
    }
  }

  /** Counts how often the processor is yielded; a park ends at once. */
  private static final class CountedYields implements Parking {
    private int yields;
    private int parks;

    @Override
    public void park(long nanos) {
      parks++;
    }

    @Override
    public void unpark(Thread thread) {}

    @Override
    public void yieldProcessor() {
      yields++;
    }
  }

  private static final int HAND_OVERS = 40_000;

  private final Cancelled cancellation = new Cancelled();

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT1H"})
  void aCancellationEndsAWaitHoweverLongItSpins(Duration spin) {
    cancellation.cancelled = true;
    EventCount events = new EventCount(spin);
    assertThatThrownBy(() -> events.await(() -> false, cancellation))
        .isInstanceOf(CancellationException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT1H"})
  void anInterruptEndsAWaitHoweverLongItSpinsAndStaysPending(Duration spin) {
    EventCount events = new EventCount(spin);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> events.await(() -> false, cancellation))
        .isInstanceOf(CancellationException.class);
    assertThat(Thread.interrupted()).isTrue();
  }

  /** With parks that nothing ends but a wake-up. */
  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT0.000002S"})
  void twoThreadsThatWakeEachOtherNeverMissAWakeUp(Duration spin) throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    AtomicInteger turn = new AtomicInteger();
    EventCount[] events = {
      new EventCount(spin, new WokenOnly()), new EventCount(spin, new WokenOnly())
    };
    try (Threads threads = new Threads()) {
      threads.runTogether(
          2,
          self -> {
            Random random = new Random(seed + self);
            for (int round = self; round < HAND_OVERS; round += 2) {
              int mine = round;
              events[self].await(() -> turn.get() == mine, cancellation);
              for (int i = random.nextInt(50); i > 0; i--) {
                Thread.onSpinWait();
              }
              turn.set(mine + 1);
              events[1 - self].signal();
            }
            return null;
          });
    }
    assertThat(turn.get()).isEqualTo(HAND_OVERS);
  }

  @Test
  void aConditionThatIsTrueIsNotWaitedFor() {
    AtomicBoolean looked = new AtomicBoolean();
    cancellation.cancelled = true;
    new EventCount(Duration.ZERO).await(() -> looked.compareAndSet(false, true), cancellation);
    assertThat(looked).isTrue();
  }

  /** Spins for an hour, so that neither a wait nor a time without one counts as long. */
  @Test
  void shortWaitsThatFollowEachOtherDoNotYield() {
    CountedYields parking = new CountedYields();
    EventCount events = new EventCount(Duration.ofHours(1), parking);
    for (int i = 0; i < 100; i++) {
      AtomicInteger looks = new AtomicInteger();
      events.await(() -> looks.incrementAndGet() > 10, cancellation);
    }
    assertThat(parking.yields).isZero();
  }

  /** Spins for a nanosecond, so that any time between two waits counts as long. */
  @Test
  void aWaitAfterALongerTimeWithoutOneYieldsOnce() {
    CountedYields parking = new CountedYields();
    EventCount events = new EventCount(Duration.ofNanos(1), parking);
    long start = System.nanoTime();
    while (System.nanoTime() - start < TimeUnit.MICROSECONDS.toNanos(1)) {
      Thread.onSpinWait();
    }
    AtomicInteger looks = new AtomicInteger();
    events.await(() -> looks.incrementAndGet() > 100, cancellation);
    assertThat(parking.yields).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"PT0S, 0", "PT1H, 1"})
  void whoHasWokenOthersYieldsToThemIfItSpins(Duration spin, int yields) {
    CountedYields parking = new CountedYields();
    new EventCount(spin, parking).yieldToWoken();
    assertThat(parking.yields).isEqualTo(yields);
  }

  @Test
  void aWaitThatDoesNotSpinDoesNotYield() {
    CountedYields parking = new CountedYields();
    AtomicInteger looks = new AtomicInteger();
    new EventCount(Duration.ZERO, parking).await(() -> looks.incrementAndGet() > 10, cancellation);
    assertThat(parking.yields).isZero();
  }

  /** Spins for so long that the second wait yields for the sleep alone. */
  @Test
  void theWaitAfterASleepYieldsOnce() {
    CountedYields parking = new CountedYields();
    EventCount events = new EventCount(Duration.ofMillis(100), parking);
    events.await(() -> parking.parks > 0, cancellation);
    int before = parking.yields;
    AtomicInteger looks = new AtomicInteger();
    events.await(() -> looks.incrementAndGet() > 10, cancellation);
    assertThat(parking.yields).isEqualTo(before + 1);
  }

  /** A condition may take what it finds. */
  @Test
  void aConditionThatWasTrueIsNotLookedAtAgain() {
    EventCount events = new EventCount(Duration.ofNanos(1), new CountedYields());
    for (int round = 0; round < 10; round++) {
      int trueAt = 1 + round;
      AtomicInteger looks = new AtomicInteger();
      events.await(() -> looks.incrementAndGet() == trueAt, cancellation);
      assertThat(looks).hasValue(trueAt);
    }
  }

  @Test
  void aConditionThatIsTrueIsNotYieldedFor() {
    CountedYields parking = new CountedYields();
    new EventCount(Duration.ofNanos(1), parking).await(() -> true, cancellation);
    assertThat(parking.yields).isZero();
  }

  @Test
  void whoWakesAWaiterIsToldWhetherItHadParked() {
    EventCount events = new EventCount(Duration.ZERO, new CountedYields());
    assertThat(events.signal()).isFalse();
    boolean[] woken = {false};
    AtomicInteger looks = new AtomicInteger();
    events.await(
        () -> {
          // The waiter has announced its park.
          woken[0] |= events.signal();
          return looks.incrementAndGet() > 1;
        },
        cancellation);
    assertThat(woken[0]).isTrue();
  }
}
