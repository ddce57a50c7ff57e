package org.sparkcollectives.internal.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that no step keeps a later one from running. */
class RunAllTest {

  private final List<String> ran = new ArrayList<>();

  private Runnable step(String name) {
    return () -> ran.add(name);
  }

  private Runnable failing(String name, Throwable thrown) {
    return () -> {
      ran.add(name);
      if (thrown instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) thrown;
    };
  }

  @Test
  void allStepsRunInOrder() {
    RunAll.of(step("a"), step("b"));
    assertThat(ran).containsExactly("a", "b");
  }

  @Test
  void anErrorKeepsNoStepFromRunningAndTheFirstIsThrown() {
    Error first = new OutOfMemoryError("first");
    RuntimeException second = new IllegalStateException("second");
    assertThatThrownBy(
            () -> RunAll.of(failing("a", first), step("b"), failing("c", second), step("d")))
        .isSameAs(first)
        .satisfies(thrown -> assertThat(thrown.getSuppressed()).containsExactly(second));
    assertThat(ran).containsExactly("a", "b", "c", "d");
  }

  @Test
  void oneExceptionThrownTwiceIsThrownOnce() {
    RuntimeException same = new IllegalStateException("same");
    assertThatThrownBy(() -> RunAll.of(failing("a", same), failing("b", same)))
        .isSameAs(same)
        .satisfies(thrown -> assertThat(thrown.getSuppressed()).isEmpty());
  }
}
