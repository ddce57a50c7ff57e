package org.sparkcollectives.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class TimeBudgetTest {

  private static final Duration WAIT = Duration.ofMillis(20);

  private static Duration next(TimeBudget budget) {
    AtomicReference<Duration> given = new AtomicReference<>();
    budget.spend(deadline -> given.set(deadline.total()));
    return given.get();
  }

  private static void sleep() {
    long start = System.nanoTime();
    while (System.nanoTime() - start < WAIT.toNanos()) {
      LockSupport.parkNanos(WAIT.toNanos());
    }
  }

  @Test
  void waitsShareTheTime() {
    Duration total = Duration.ofDays(1);
    TimeBudget budget = new TimeBudget(total);
    assertThat(next(budget)).isEqualTo(total);
    budget.spend(deadline -> sleep());
    assertThatThrownBy(
            () ->
                budget.spend(
                    deadline -> {
                      sleep();
                      throw new IllegalStateException("a wait that fails is counted, too");
                    }))
        .isInstanceOf(IllegalStateException.class);
    assertThat(next(budget)).isLessThanOrEqualTo(total.minus(WAIT.multipliedBy(2)));
  }

  @Test
  void eachWaitGetsAMomentAlsoWhenAllIsSpent() {
    TimeBudget budget = new TimeBudget(Duration.ZERO);
    Duration moment = next(budget);
    assertThat(moment).isPositive();
    budget.spend(deadline -> sleep());
    assertThat(next(budget)).isEqualTo(moment);
  }
}
