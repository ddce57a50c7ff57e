package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests that a gate admits threads until it is closed, and closes when none is inside. */
final class SubmissionGateTest {

  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofSeconds(30);

  private final SubmissionGate gate = new SubmissionGate();

  private boolean closesOnAnotherThread(Duration atMost) {
    return CompletableFuture.supplyAsync(() -> gate.close(atMost)).join();
  }

  @Test
  void itDoesNotCloseWhileAThreadIsInside() {
    assertThat(gate.enter()).isTrue();
    assertThat(closesOnAnotherThread(SHORT)).isFalse();
    assertThat(gate.enter()).isTrue();
    gate.leave();
    gate.leave();
    assertThat(closesOnAnotherThread(LONG)).isTrue();
  }

  @Test
  void aClosedGateAdmitsNoThreadAndStaysClosed() {
    assertThat(closesOnAnotherThread(LONG)).isTrue();
    assertThat(gate.enter()).isFalse();
    assertThat(gate.close(SHORT)).isTrue();
  }

  @Test
  void anInterruptIsKept() {
    Thread.currentThread().interrupt();
    assertThat(gate.close(LONG)).isTrue();
    assertThat(Thread.interrupted()).isTrue();
  }
}
