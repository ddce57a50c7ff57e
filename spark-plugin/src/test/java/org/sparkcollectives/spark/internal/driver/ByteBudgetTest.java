package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ByteBudgetTest {

  private final ByteBudget budget = new ByteBudget(10);

  @Test
  void bytesAreGivenInTheOrderInWhichTheyAreAskedFor() {
    assertThat(budget.acquire(6)).isCompleted();
    CompletableFuture<Void> large = budget.acquire(8);
    CompletableFuture<Void> small = budget.acquire(1);
    assertThat(large).isNotDone();
    assertThat(small).as("does not overtake").isNotDone();
    budget.release(6);
    assertThat(large).isCompleted();
    assertThat(small).isCompleted();
    assertThat(budget.taken()).isEqualTo(9);
  }

  @Test
  void whoGivesUpTakesNothingAndLetsOthersPass() {
    assertThat(budget.acquire(6)).isCompleted();
    CompletableFuture<Void> large = budget.acquire(8);
    CompletableFuture<Void> small = budget.acquire(4);
    large.cancel(false);
    assertThat(small).isCompleted();
    assertThat(budget.taken()).isEqualTo(10);
    budget.release(10);
    assertThat(budget.taken()).isZero();
    assertThatIllegalArgumentException().isThrownBy(() -> budget.acquire(11));
  }
}
