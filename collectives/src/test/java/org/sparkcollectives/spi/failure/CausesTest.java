package org.sparkcollectives.spi.failure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CausesTest {

  @Test
  void anExceptionComesBeforeItsCauses() {
    Throwable inner = new IllegalStateException("inner");
    Throwable outer = new IllegalArgumentException("outer", inner);
    assertThat(Causes.of(outer)).containsExactly(outer, inner);
    assertThat(Causes.of(null)).isEmpty();
  }

  @Test
  void causesInACircleComeOnceEach() {
    Throwable first = new IllegalStateException("first");
    Throwable second = new IllegalStateException("second", first);
    first.initCause(second);
    assertThat(Causes.of(first)).containsExactly(first, second);
  }
}
