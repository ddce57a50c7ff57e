package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/**
 * Specifies refusals of arguments that are wrong by themselves, or do not fit those of other ranks.
 */
interface RefusalsContract extends RanksUnderTest {

  private static void refused(ThrowingCallable call, String why) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why)
        .hasMessageContaining("on rank");
  }

  @Test
  default void differentReductionsAndRootsAreRefused() {
    ranks(
        2,
        group -> {
          ReduceOp op = group.rank() == 0 ? ReduceOp.SUM : ReduceOp.MAX;
          assertThatThrownBy(() -> group.allReduce(Tensor.of(1f, 2f), op).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("SUM")
              .hasMessageContaining("MAX");
          return null;
        });
    ranks(
        3,
        group -> {
          int root = group.rank() == 1 ? 2 : 1;
          assertThatThrownBy(
                  () -> {
                    group.reduce(Tensor.of(1f, 2f), ReduceOp.SUM, root).await();
                    group.barrier().await();
                    // A rank whose neighbours agreed with it passes the barrier.
                    group.barrier().await();
                  })
              .isInstanceOf(CollectiveException.class)
              .hasMessageMatching("(?s).*reduce #0 \\(float32 x 2, SUM, root [12]\\).*");
          return null;
        });
  }

  @Test
  default void listsOfOtherSizesAreRefusedThoughTheirTotalsAreEqual() {
    ranks(
        2,
        group -> {
          boolean first = group.rank() == 0;
          List<Tensor> tensors =
              List.of(Tensor.of(new float[first ? 3 : 5]), Tensor.of(new float[first ? 5 : 3]));
          assertThatThrownBy(() -> group.allReduceCoalesced(tensors, ReduceOp.SUM).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageMatching("(?s).*(sizes with digest|float32 \\[3\\] \\[5\\]).*");
          return null;
        });
  }

  @Test
  default void memoryIsSharedInPlaceOrNotAtAll() {
    ranks(
        3,
        group -> {
          int[] data = {1, 2, 3, 4, 5, 6};
          Tensor all = Tensor.of(data);
          Tensor own = all.slice(2L * group.rank(), 2);
          Tensor other = all.slice(1, 2);
          String refused = "output and input share memory";
          refused(() -> group.allGather(all, other), refused);
          refused(() -> group.reduceScatter(other, all, ReduceOp.SUM), refused);
          List<Tensor> parts = List.of(all.slice(0, 2), all.slice(2, 2), all.slice(4, 2));
          refused(() -> group.allGather(parts, parts.get((group.rank() + 1) % 3)), refused);
          group.reduceScatter(own, all, ReduceOp.SUM).await();
          group.allGather(all, own).await();
          assertThat(data).containsExactly(3, 6, 9, 12, 15, 18);
          return null;
        });
  }

  @Test
  default void argumentsAreRefusedAndTheGroupGoesOn() {
    ranks(
        2,
        group -> {
          Tensor one = Tensor.of(1);
          Tensor two = Tensor.of(1, 2);
          refused(() -> group.gather(List.of(), one, 5), "root must be 0 to 1, not 5");
          refused(() -> group.allReduce((SparseTensor) null), "the tensor is null");
          refused(() -> group.newSubgroups((List<int[]>) null), "the list of groups is null");
          refused(() -> group.batch(Arrays.asList((P2POp) null)), "operation is null");
          refused(
              () -> group.gather(List.of(one), one, group.rank()),
              "one tensor for each of 2 ranks, not 1");
          refused(
              () -> group.gather(List.of(one, one), one, 1 - group.rank()),
              "must be empty on ranks other than the root");
          refused(() -> group.scatter(one, List.of(one, one), 1 - group.rank()), "must be empty");
          refused(() -> group.allToAll(Tensor.of(1, 2, 3), Tensor.of(1, 2, 3)), "divide equally");
          refused(() -> group.allToAll(two, Tensor.of(1f, 2f)), "must be alike");
          refused(() -> group.allToAll(two, two), "share their memory");
          refused(
              () -> group.allToAll(Tensor.of(1, 2), two, null, new long[] {1}),
              "splits, 1, is not");
          refused(
              () -> group.allToAll(Tensor.of(1, 2), two, null, new long[] {1, 2}), "add up to 3");
          refused(
              () -> group.allToAll(Tensor.of(1, 2), two, new long[] {3, -1}, null), "negative: -1");
          refused(() -> group.allReduceCoalesced(List.of(), ReduceOp.SUM), "non-empty tensor list");
          refused(
              () -> group.allReduceCoalesced(List.of(one, Tensor.of(1f)), ReduceOp.SUM),
              "must be alike");
          refused(
              () -> group.allReduceCoalesced(List.of(one), ReduceOp.AVG), "not defined for int32");
          int[] sum = {1};
          Work work = group.allReduce(Tensor.of(sum), ReduceOp.SUM);
          work.await();
          assertThat(work.sequenceNumber()).isZero();
          assertThatThrownBy(work::sparseResult).isInstanceOf(IllegalStateException.class);
          assertThat(sum[0]).isEqualTo(2);
          return null;
        });
  }
}
