package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.testing.Eventually;

/** Tests that operations and other uses of one communicator exclude each other. */
final class CommunicatorQueueTest {

  private static final Duration LIMIT = CommunicatorFixture.LIMIT;

  @RegisterExtension final CommunicatorFixture fixture = new CommunicatorFixture();

  private CommunicatorQueue queue() {
    return fixture.queue;
  }

  @Test
  void operationsAddedDuringExclusiveUseStartAfterIt() throws Exception {
    queue().createNow(LIMIT);
    CommunicatorFixture.Begun begun = new CommunicatorFixture.Begun();
    NcclOperation operation = fixture.operation(begun);
    queue()
        .exclusively(
            LIMIT,
            (communicator, deadline) -> {
              Thread other =
                  new Thread(
                      () -> {
                        queue().add(List.of(operation));
                        queue().begin();
                      });
              other.start();
              CommunicatorFixture.join(other);
              assertThat(begun.started.getCount()).isEqualTo(1);
              return communicator;
            });
    assertThat(begun.started.getCount()).isZero();
    operation.drop();
  }

  @Test
  void anAbortedCommunicatorIsNotUsed() {
    queue().createNow(LIMIT);
    queue().abort();
    assertThatThrownBy(
            () ->
                queue().exclusively(LIMIT, (communicator, deadline) -> fixture.nccl.asyncError(-1)))
        .isInstanceOf(GroupAbortedException.class)
        .hasMessageContaining("the communicator of the test");
  }

  @Test
  void aCallThatAnAbortEndsReportsTheAbortInsteadOfAnErrorOfNccl() {
    queue().createNow(LIMIT);
    assertThatThrownBy(
            () ->
                queue()
                    .exclusively(
                        LIMIT,
                        (communicator, deadline) -> {
                          queue().end();
                          throw new NcclException(
                              "ncclCommRegister was aborted", NcclResult.SUCCESS);
                        }))
        .isInstanceOf(GroupAbortedException.class)
        .hasMessageContaining("the communicator of the test");
  }

  @Test
  void anAbortWaitsForTheThreadInsideNccl() throws Exception {
    queue().createNow(LIMIT);
    CountDownLatch gate = fixture.nccl.faults().hang("ncclGroupEnd");
    CommunicatorFixture.Begun begun = new CommunicatorFixture.Begun();
    NcclOperation operation = fixture.operation(begun, fixture::emptySum);
    Thread launch = CommunicatorFixture.start(() -> fixture.launch(operation));
    fixture.awaitCall("ncclGroupEnd");
    // A thread that checks for errors meanwhile must not call NCCL for the communicator.
    assertThat(queue().communicator().error()).isNull();
    Thread abort = CommunicatorFixture.start(queue()::abort);
    Eventually.holds(queue()::isEnded, () -> "the queue has not ended");
    assertThat(queue().awaitUnused(Duration.ofMillis(50))).isFalse();
    assertThat(fixture.nccl.calls()).doesNotContain("ncclCommAbort");
    gate.countDown();
    CommunicatorFixture.join(abort);
    CommunicatorFixture.join(launch);
    assertThat(fixture.nccl.calls()).contains("ncclCommAbort");
    assertThat(queue().awaitUnused(LIMIT)).isTrue();
    operation.drop();
  }

  @Test
  void noOperationIsLaunchedAfterTheAbort() {
    queue().createNow(LIMIT);
    queue().abort();
    CommunicatorFixture.Begun begun = new CommunicatorFixture.Begun();
    NcclOperation operation = fixture.operation(begun);
    fixture.launch(operation);
    assertThat(begun.started.getCount()).isOne();
    assertThat(fixture.nccl.calls()).doesNotContain("ncclGroupStart");
    operation.drop();
  }

  @Test
  void anErrorOfALaunchFailsItsOperations() {
    queue().createNow(LIMIT);
    fixture.nccl.faults().throwFrom("ncclAllReduce", new UnsatisfiedLinkError("ncclAllReduce"));
    CommunicatorFixture.Begun begun = new CommunicatorFixture.Begun();
    NcclOperation operation = fixture.operation(begun, fixture::emptySum);
    fixture.launch(operation);
    assertThat(begun.failure(LIMIT)).isInstanceOf(UnsatisfiedLinkError.class);
    // The thread does not stay inside the group of calls.
    assertThat(fixture.nccl.calls()).contains("ncclGroupEnd");
    operation.drop();
  }
}
