package org.sparkcollectives.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.internal.failure.GroupState;
import org.sparkcollectives.internal.liveness.Ranks;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.PolledMemory;
import org.sparkcollectives.internal.transport.tcp.SocketWait;
import org.sparkcollectives.spi.LogContext;

/** Tests how a rank that shares its processor with others waits for shared memory. */
class WaiterTest {

  private static Waiter waiter(Duration spin) {
    Cancellation never =
        new Cancellation() {
          @Override
          public void check() {}

          @Override
          public void interrupted() {}
        };
    GroupState state = new GroupState(Ranks.membership(0, 1).identity());
    return Waiter.of(state, never, LogContext.of("group", 0), spin);
  }

  /** Memory for which the rank waits, and which counts how often that is announced. */
  private static final class CountedSleeps implements PolledMemory {
    private int announced;

    @Override
    public boolean isAwaited() {
      return true;
    }

    @Override
    public boolean announceSleep() {
      announced++;
      return false;
    }

    @Override
    public void retractSleep() {}
  }

  @Test
  void aRankThatDoesNotSpinAsksToBeWokenBeforeItsFirstSleep() {
    Waiter waiter = waiter(Duration.ZERO);
    try (SocketWait sockets = waiter.sockets()) {
      CountedSleeps memory = new CountedSleeps();
      sockets.register(memory);
      sockets.awake();
      sockets.announce();
      assertThat(memory.announced).isEqualTo(1);
    }
  }

  @Test
  void aRankThatSpinsPollsFirst() {
    Waiter waiter = waiter(Duration.ofNanos(1));
    try (SocketWait sockets = waiter.sockets()) {
      CountedSleeps memory = new CountedSleeps();
      sockets.register(memory);
      int before;
      long start;
      do {
        // Repeated where this thread did not run for as long as a rank polls.
        before = memory.announced;
        start = System.nanoTime();
        sockets.awake();
        sockets.announce();
      } while (System.nanoTime() - start > Duration.ofNanos(800_000).toNanos());
      assertThat(memory.announced).isEqualTo(before);
    }
  }
}
