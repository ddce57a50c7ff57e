package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.testing.Eventually;

/** Tests that operations and other uses of one communicator exclude each other. */
final class CommunicatorQueueTest {

  private static final Duration LIMIT = CommunicatorFixture.LIMIT;

  @RegisterExtension final CommunicatorFixture fixture = new CommunicatorFixture();

  private CommunicatorQueue queue() {
    return fixture.queue;
  }

  /** Runs {@code body} on another thread while this one has exclusive use of the communicator. */
  private void duringExclusiveUse(Runnable body) {
    queue().communicator().createNow(LIMIT);
    queue()
        .exclusively(
            LIMIT,
            (own, deadline) -> {
              CompletableFuture.runAsync(body).join();
              return own;
            });
  }

  @Test
  void operationsAddedDuringExclusiveUseStartAfterIt() throws Exception {
    queue().communicator().createNow(LIMIT);
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
  void operationsStartInTheOrderInWhichTheyWereAdded() {
    List<Integer> started = new ArrayList<>();
    List<NcclOperation> operations = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int number = i;
      operations.add(
          fixture.operation(new CommunicatorFixture.Begun(), target -> started.add(number)));
    }
    duringExclusiveUse(() -> operations.forEach(fixture::launch));
    assertThat(started).containsExactly(0, 1, 2);
    List<NcclOperation> launched = new ArrayList<>();
    queue().removeWhile(launched::add);
    assertThat(launched).isEqualTo(operations);
    operations.forEach(NcclOperation::drop);
  }

  @Test
  void theWaitForTheLockEndsAtItsDeadline() {
    duringExclusiveUse(
        () ->
            assertThatThrownBy(
                    () -> queue().exclusively(Duration.ofMillis(50), (own, deadline) -> own))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("the lock of the communicator of the test"));
  }

  @Test
  void theWaitForTheLockEndsWithTheCommunicator() {
    duringExclusiveUse(
        () -> {
          queue().communicator().end();
          assertThatThrownBy(() -> queue().exclusively(LIMIT, (own, deadline) -> own))
              .isInstanceOf(GroupAbortedException.class)
              .hasMessageContaining("the lock of the communicator of the test");
        });
  }

  @Test
  void anInterruptEndsTheWaitForTheLock() {
    duringExclusiveUse(
        () -> {
          Thread.currentThread().interrupt();
          assertThatThrownBy(() -> queue().exclusively(LIMIT, (own, deadline) -> own))
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("Interrupted while the communicator of the test was in use");
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  void anInterruptDoesNotEndTheWaitForTheLastUser() {
    duringExclusiveUse(
        () -> {
          Thread.currentThread().interrupt();
          assertThat(queue().awaitUnused(Duration.ofMillis(50))).isFalse();
          assertThat(Thread.interrupted()).isTrue();
        });
    assertThat(queue().awaitUnused(LIMIT)).isTrue();
  }

  @Test
  void anAbortEndsTheWaitForNcclInAnExclusiveUse() throws Exception {
    queue().communicator().createNow(LIMIT);
    fixture.nccl.injectError(0, NcclResult.IN_PROGRESS);
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Throwable> end =
        CompletableFuture.supplyAsync(
            () ->
                catchThrowable(
                    () ->
                        queue()
                            .exclusively(
                                LIMIT,
                                (own, deadline) -> {
                                  begun.countDown();
                                  own.check("ncclCommSplit", NcclResult.IN_PROGRESS, deadline);
                                  return own;
                                })));
    begun.await();
    queue().communicator().abort();
    assertThat(end.join()).isInstanceOf(GroupAbortedException.class);
    assertThat(fixture.nccl.calls()).contains("ncclCommAbort");
  }

  @Test
  void anAbortedCommunicatorIsNotUsed() {
    queue().communicator().createNow(LIMIT);
    queue().communicator().abort();
    assertThatThrownBy(
            () ->
                queue().exclusively(LIMIT, (communicator, deadline) -> fixture.nccl.asyncError(-1)))
        .isInstanceOf(GroupAbortedException.class)
        .hasMessageContaining("the communicator of the test");
  }

  @Test
  void aCallThatAnAbortEndsReportsTheAbortInsteadOfAnErrorOfNccl() {
    queue().communicator().createNow(LIMIT);
    assertThatThrownBy(
            () ->
                queue()
                    .exclusively(
                        LIMIT,
                        (communicator, deadline) -> {
                          queue().communicator().end();
                          throw new NcclException(
                              "ncclCommRegister was aborted", NcclResult.SUCCESS);
                        }))
        .isInstanceOf(GroupAbortedException.class)
        .hasMessageContaining("the communicator of the test");
  }

  @Test
  void anAbortWaitsForTheThreadInsideNccl() throws Exception {
    queue().communicator().createNow(LIMIT);
    CountDownLatch gate = fixture.nccl.faults().hang("ncclGroupEnd");
    CommunicatorFixture.Begun begun = new CommunicatorFixture.Begun();
    NcclOperation operation = fixture.operation(begun, fixture::emptySum);
    Thread launch = CommunicatorFixture.start(() -> fixture.launch(operation));
    fixture.awaitCall("ncclGroupEnd");
    // A thread that checks for errors meanwhile must not call NCCL for the communicator.
    assertThat(queue().communicator().error()).isNull();
    Thread abort = CommunicatorFixture.start(queue().communicator()::abort);
    Eventually.holds(queue().communicator()::isEnded, () -> "the queue has not ended");
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
    queue().communicator().createNow(LIMIT);
    queue().communicator().abort();
    CommunicatorFixture.Begun begun = new CommunicatorFixture.Begun();
    NcclOperation operation = fixture.operation(begun);
    fixture.launch(operation);
    assertThat(begun.started.getCount()).isOne();
    assertThat(fixture.nccl.calls()).doesNotContain("ncclGroupStart");
    operation.drop();
  }

  @Test
  void anErrorOfALaunchFailsItsOperations() {
    queue().communicator().createNow(LIMIT);
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
