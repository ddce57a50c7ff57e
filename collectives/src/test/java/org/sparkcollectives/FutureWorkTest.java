package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests a work made from a future. */
class FutureWorkTest {

  private final CompletableFuture<List<Tensor>> future = new CompletableFuture<>();
  private final Work work = Work.of(OpType.ALL_REDUCE, 7, future);

  @Test
  void itIsPendingUntilTheFutureIsDone() {
    assertThat(work.isCompleted()).isFalse();
    assertThat(work.isSuccess()).isFalse();
    assertThat(work.exception()).isNull();
    assertThat(work.await(Duration.ofMillis(1))).isFalse();
    assertThat(work.durationMillis()).isEmpty();
    assertThat(work.opType()).isEqualTo(OpType.ALL_REDUCE);
    assertThat(work.sequenceNumber()).isEqualTo(7);
  }

  @Test
  void itEndsWithTheFuturesTensors() {
    List<Tensor> tensors = List.of(Tensor.of(1f));
    future.complete(tensors);
    work.await();
    assertThat(work.await(Duration.ZERO)).isTrue();
    assertThat(work.await(Duration.ofSeconds(Long.MAX_VALUE))).isTrue();
    assertThat(work.isSuccess()).isTrue();
    assertThat(work.future().join()).isEqualTo(tensors);
    assertThat(work.result().join()).isEqualTo(WorkResult.SUCCESS);
    assertThat(work.durationMillis().orElseThrow()).isNotNegative();
  }

  @Test
  void itEndsWithTheFuturesFailure() {
    IllegalStateException cause = new IllegalStateException("no memory");
    future.completeExceptionally(cause);
    assertThat(work.isCompleted()).isTrue();
    assertThat(work.isSuccess()).isFalse();
    assertThat(work.exception()).isSameAs(cause);
    assertThatThrownBy(work::await)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("all-reduce #7 failed")
        .hasMessageContaining("no memory")
        .hasCause(cause);
    assertThatThrownBy(() -> work.await(Duration.ZERO)).hasCause(cause);
    assertThat(work.result().join()).isEqualTo(WorkResult.UNKNOWN);
  }

  @Test
  void aCollectiveExceptionIsThrownAsItIs() {
    CollectiveTimeoutException late =
        new CollectiveTimeoutException("too late", "all-reduce", 7, List.of(1));
    future.completeExceptionally(late);
    assertThatThrownBy(work::await).isSameAs(late);
    assertThat(work.result().join()).isEqualTo(WorkResult.TIMEOUT);
  }

  @Test
  void aCancelledFutureIsAFailure() {
    future.cancel(false);
    assertThat(work.isSuccess()).isFalse();
    assertThatThrownBy(work::await)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("all-reduce #7 failed");
  }

  @Test
  void anInterruptEndsTheWaitAndNothingElse() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(work::await)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("Interrupted");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(work.isCompleted()).isFalse();
    assertThatThrownBy(work::sourceRank).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(work::sparseResult).isInstanceOf(IllegalStateException.class);
  }
}
