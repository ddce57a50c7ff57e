package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupAbortedException;

/** Tests the creation of a communicator that is needed, and its failures. */
final class LazyCommunicatorTest {

  private static final Duration LIMIT = CommunicatorFixture.LIMIT;

  @RegisterExtension final CommunicatorFixture fixture = new CommunicatorFixture();

  private CommunicatorQueue queue() {
    return fixture.queue;
  }

  @Test
  void anInterruptEndsTheWaitForACommunicator() {
    fixture.useQueue(2, created -> {});
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> queue().communicator().createNow(LIMIT))
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("Interrupted")
        .hasMessageContaining("ncclCommInitRankConfig of the communicator of the test");
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void noCommunicatorIsCreatedAfterTheAbort() {
    queue().communicator().abort();
    CommunicatorFixture.Begun begun = new CommunicatorFixture.Begun();
    NcclOperation operation = fixture.operation(begun);
    fixture.launch(operation);
    assertThat(begun.failure(LIMIT)).isInstanceOf(GroupAbortedException.class);
    assertThat(fixture.nccl.calls()).doesNotContain("ncclCommInitRankConfig");
    // The resources of the group may have been released by then.
    assertThat(fixture.cuda.leaks()).doesNotContain("stream");
    operation.drop();
  }

  @Test
  void theCreationForOperationsHasNoTimeLimitOfItsOwn() {
    CompletableFuture<Duration> left = new CompletableFuture<>();
    fixture.useQueue(
        (name, deadline) -> {
          left.complete(deadline.left());
          throw new IllegalStateException("enough");
        });
    CommunicatorFixture.Begun begun = new CommunicatorFixture.Begun();
    NcclOperation operation = fixture.operation(begun);
    fixture.launch(operation);
    assertThat(left.join()).isGreaterThan(Duration.ofDays(1000));
    assertThat(begun.failure(LIMIT)).hasMessage("enough");
    operation.drop();
  }

  @Test
  void theWaitForACommunicatorTimesOutAlsoIfNcclDoesNotReturn() {
    CountDownLatch gate = fixture.nccl.faults().hang("ncclCommInitRankConfig");
    // Long enough for the thread to come to NCCL's call on a machine with other work.
    assertThatThrownBy(() -> queue().communicator().createNow(Duration.ofSeconds(2)))
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("not returned from the creation of the communicator of the test");
    gate.countDown();
    assertThat(fixture.threads.join(LIMIT)).isTrue();
    assertThat(fixture.nccl.communicators()).isZero();
  }

  @Test
  void anErrorOfTheCreationFailsTheOperationsThatWait() {
    fixture
        .nccl
        .faults()
        .throwFrom("ncclCommInitRankConfig", new NoClassDefFoundError("com.sun.jna.Pointer"));
    CommunicatorFixture.Begun begun = new CommunicatorFixture.Begun();
    NcclOperation operation = fixture.operation(begun);
    fixture.launch(operation);
    assertThat(begun.failure(LIMIT)).isInstanceOf(NoClassDefFoundError.class);
    operation.drop();
  }
}
