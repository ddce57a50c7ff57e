package org.sparkcollectives.internal.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.EventCount;
import org.sparkcollectives.internal.transport.Parking;
import org.sparkcollectives.testing.Threads;

/** Two that wait for each other in memory, and are woken by the flag or not at all. */
@Timeout(60)
class SleepFlagTest {

  private static final int HAND_OVERS = 200_000;

  /** About as long as the other takes, so that what is awaited often comes amid going to sleep. */
  private static final Duration SPIN = Duration.ofNanos(3_000);

  private static final int CELLS = 128;
  private static final int MOST_WAIT = 4;
  private static final int LOOKS = 1000;
  private static final long LITMUS_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int TURN = 2 * SleepFlag.BYTES;
  private static final Doorbell.Key BELL = new Doorbell.Key(7, 8, 9);
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final Cancellation NEVER =
      new Cancellation() {
        @Override
        public void check() {}

        @Override
        public void interrupted() {}
      };

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(3 * SleepFlag.BYTES).order(ByteOrder.nativeOrder());
  private final Thread[] threads = new Thread[2];
  private final AtomicInteger bells = new AtomicInteger();

  private SleepFlag flag(int side) {
    return new SleepFlag(memory, side * SleepFlag.BYTES);
  }

  /** Sleeps far longer than it takes to be woken; who sleeps all of it was not woken. */
  private static final class WokenOnly implements Parking {
    private final SleepFlag flag;
    private final int side;

    WokenOnly(SleepFlag flag, int side) {
      this.flag = flag;
      this.side = side;
    }

    @Override
    public boolean announce() {
      return flag.set(new Doorbell.Key(side, side, side));
    }

    @Override
    public void ended() {
      flag.clear();
    }

    @Override
    public void park(long nanos) {
      long start = System.nanoTime();
      LockSupport.parkNanos(this, LIMIT_NANOS);
      if (System.nanoTime() - start >= LIMIT_NANOS) {
        throw new AssertionError("nobody has woken this thread");
      }
    }

    @Override
    public void unpark(Thread thread) {
      throw new AssertionError("only the flag wakes");
    }
  }

  @Test
  void noWakeUpIsLostBetweenTwoThatHandOverAtFullSpeed() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    long end = System.nanoTime() + LIMIT_NANOS;
    try (Threads together = new Threads()) {
      together.runTogether(
          2,
          side -> {
            threads[side] = Thread.currentThread();
            handOver(side, new Random(seed + side), end);
            return null;
          });
    }
    System.out.println(bells.get() + " bells");
  }

  private void handOver(int side, Random random, long end) {
    EventCount events = new EventCount(SPIN, new WokenOnly(flag(side), side));
    SleepFlag other = flag(1 - side);
    boolean goesOn = true;
    for (long round = side; goesOn && round < HAND_OVERS; round += 2) {
      long mine = round;
      events.await(() -> Math.abs((long) LONGS.getAcquire(memory, TURN)) >= mine, NEVER);
      // Below zero once time is up: on a busy machine a hand-over takes long.
      goesOn = (long) LONGS.getAcquire(memory, TURN) >= 0 && System.nanoTime() - end < 0;
      for (int i = random.nextInt(200); i > 0; i--) {
        Thread.onSpinWait();
      }
      LONGS.setRelease(memory, TURN, goesOn ? mine + 1 : -HAND_OVERS);
      SleepFlag.publish();
      Doorbell.Key bell = other.take();
      if (bell != null) {
        bells.incrementAndGet();
        LockSupport.unpark(threads[bell.descriptor()]);
      }
    }
  }

  /**
   * The two steps of each side, on many flags one after the other, with both sides in step: at
   * least one of the two must see what the other has written.
   */
  @Test
  void eitherTheWaiterSeesTheChangeOrTheOtherTheFlag() throws Exception {
    ByteBuffer cells =
        ByteBuffer.allocateDirect(2 * CELLS * SleepFlag.BYTES).order(ByteOrder.nativeOrder());
    boolean[] seen = new boolean[CELLS];
    boolean[] taken = new boolean[CELLS];
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    AtomicLong[] arrived = {new AtomicLong(), new AtomicLong()};
    AtomicInteger last = new AtomicInteger(Integer.MAX_VALUE);
    long end = System.nanoTime() + LITMUS_NANOS;
    try (Threads together = new Threads()) {
      together.runTogether(
          2,
          side -> {
            SleepFlag[] flags = new SleepFlag[CELLS];
            for (int i = 0; i < CELLS; i++) {
              flags[i] = new SleepFlag(cells, 2 * i * SleepFlag.BYTES);
            }
            Random random = new Random(seed + side);
            long step = 0;
            for (int round = 1; round <= last.get(); round++) {
              if (side == 0 && System.nanoTime() - end > 0) {
                last.set(round);
              }
              for (int i = 0; i < CELLS; i++) {
                meet(arrived, side, ++step);
                for (int wait = random.nextInt(MOST_WAIT); wait > 0; wait--) {
                  Thread.onSpinWait();
                }
                int data = (2 * i + 1) * SleepFlag.BYTES;
                if (side == 0) {
                  flags[i].set(BELL);
                  seen[i] = (long) LONGS.getAcquire(cells, data) == round;
                } else {
                  LONGS.setRelease(cells, data, (long) round);
                  SleepFlag.publish();
                  taken[i] = flags[i].take() != null;
                }
              }
              meet(arrived, side, ++step);
              for (int i = 0; side == 0 && i < CELLS; i++) {
                if (!seen[i] && !taken[i]) {
                  throw new AssertionError("neither saw the other in round " + round);
                }
                flags[i].clear();
              }
            }
            return null;
          });
    }
    System.out.println(last.get() + " rounds");
  }

  private static void meet(AtomicLong[] arrived, int side, long at) {
    arrived[side].set(at);
    for (int i = 0; i < LOOKS && arrived[1 - side].get() < at; i++) {
      Thread.onSpinWait();
    }
    Spinning.until(() -> arrived[1 - side].get() >= at);
  }

  @Test
  void aSleepIsAnsweredByOneBellHoweverOftenSomethingIsPublished() {
    SleepFlag waiter = flag(0);
    SleepFlag seen = flag(0);
    assertThat(seen.take()).isNull();
    assertThat(waiter.set(BELL)).isTrue();
    assertThat(waiter.set(BELL)).as("news the second time").isFalse();
    assertThat(seen.take()).isEqualTo(BELL);
    assertThat(seen.take()).isNull();
    assertThat(waiter.set(BELL)).as("news after a bell").isTrue();
    assertThat(seen.take()).isEqualTo(BELL);
  }

  @Test
  void whoIsAwakeIsNotRungFor() {
    SleepFlag waiter = flag(0);
    waiter.set(BELL);
    waiter.clear();
    assertThat(flag(0).take()).isNull();
  }
}
