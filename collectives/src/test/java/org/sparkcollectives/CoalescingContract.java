package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Specifies operations on several tensors, several messages, and several operations as one. */
interface CoalescingContract extends RanksUnderTest {

  @Test
  default void coalescedTensorsAreReducedEach() {
    ranks(
        3,
        group -> {
          for (int scale : new int[] {1, 50_000}) {
            float[] a = new float[3 * scale];
            float[] b = new float[scale];
            float[] none = {};
            Arrays.fill(a, 1 + group.rank());
            Arrays.fill(b, 10);
            Work work =
                group.allReduceCoalesced(
                    List.of(Tensor.of(a), Tensor.of(none), Tensor.of(b)), ReduceOp.AVG);
            work.await();
            assertThat(work.opType()).isEqualTo(OpType.ALL_REDUCE_COALESCED);
            assertThat(a).containsOnly(2);
            assertThat(b).containsOnly(10);
          }
          return null;
        });
  }

  @Test
  default void aBatchOfMessagesHasNoOrder() {
    ranks(
        3,
        group -> {
          int next = (group.rank() + 1) % 3;
          int previous = (group.rank() + 2) % 3;
          int[] received = {0, 0};
          List<Work> works =
              group.batch(
                  List.of(
                      P2POp.recv(Tensor.of(received).slice(1, 1), previous, 1),
                      P2POp.send(Tensor.of(group.rank()), next, 0),
                      P2POp.send(Tensor.of(10 + group.rank()), next, 1),
                      P2POp.recv(Tensor.of(received).slice(0, 1), previous, 0)));
          works.forEach(Work::await);
          assertThat(received).containsExactly(previous, 10 + previous);
          assertThatThrownBy(() -> group.batch(List.of()))
              .isInstanceOf(IllegalArgumentException.class);
          assertThatThrownBy(() -> group.batch(List.of(P2POp.send(Tensor.of(1), group.rank(), 0))))
              .hasMessageContaining("this very rank");
          return null;
        });
  }

  @Test
  default void aBlockOfOperationsIsAwaitedAsOne() {
    ranks(
        3,
        group -> {
          int[] sum = {1};
          int[] all = new int[3];
          Coalescing block = group.coalesce();
          assertThatThrownBy(group::coalesce).isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(block::work).hasMessageContaining("not closed");
          try (block) {
            group.allReduce(Tensor.of(sum), ReduceOp.SUM);
            group.allGather(Tensor.of(all), Tensor.of(group.rank()));
          }
          Work work = block.work();
          assertThat(work.await(Duration.ofSeconds(30))).isTrue();
          assertThat(work.isSuccess()).isTrue();
          assertThat(work.opType()).isEqualTo(OpType.COALESCED);
          assertThat(sum[0]).isEqualTo(3);
          assertThat(all).containsExactly(0, 1, 2);
          CompletableFuture<List<Tensor>> tensors = work.future();
          assertThat(tensors.join()).hasSize(2);
          Coalescing empty = group.coalesce();
          try (empty) {
            assertThat(empty).isNotNull();
          }
          assertThatThrownBy(empty::work).hasMessageContaining("No operation");
          return null;
        });
  }
}
