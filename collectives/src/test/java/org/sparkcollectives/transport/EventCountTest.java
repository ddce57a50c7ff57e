package org.sparkcollectives.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What ends a wait beside its condition. */
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

  @Test
  void aConditionThatIsTrueIsNotWaitedFor() {
    AtomicBoolean looked = new AtomicBoolean();
    cancellation.cancelled = true;
    new EventCount(Duration.ZERO).await(() -> looked.compareAndSet(false, true), cancellation);
    assertThat(looked).isTrue();
  }
}
