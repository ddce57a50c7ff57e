package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Specifies sums of sparse tensors. */
interface SparseReductionsContract extends RanksUnderTest {

  @Test
  default void sparseTensorsAreSummedUpWhereverTheirPlacesAre() {
    ranks(
        3,
        group -> {
          int rank = group.rank();
          // Each rank stores row `rank` twice, and all store row 4.
          SparseTensor mine =
              SparseTensor.of(
                  new long[] {5, 2},
                  Tensor.of((long) rank, rank, 4L).reshape(1, 3),
                  Tensor.of(1f, 2f, 10f, 20f, rank, 1f).reshape(3, 2));
          Work work = group.allReduce(mine);
          work.await();
          SparseTensor sum = work.sparseResult();
          assertThat((long[]) sum.indices().array()).containsExactly(0, 1, 2, 4);
          assertThat((float[]) sum.values().array()).containsExactly(11, 22, 11, 22, 11, 22, 3, 3);
          assertThat(sum.shape()).containsExactly(5, 2);
          return null;
        });
  }

  @Test
  default void sparseTensorsMayBeEmptyOnSomeRanksAndHaveSeveralSparseDimensions() {
    ranks(
        2,
        group -> {
          SparseTensor mine =
              group.rank() == 0
                  ? SparseTensor.of(
                      new long[] {1L << 40, 1L << 40},
                      Tensor.of(new long[0]).reshape(2, 0),
                      Tensor.of(new int[0]))
                  : SparseTensor.of(
                      new long[] {1L << 40, 1L << 40},
                      Tensor.of(7L, 7L, 1L, 9L, 3L, 9L).reshape(2, 3),
                      Tensor.of(1, 2, 3));
          Work work = group.allReduce(mine);
          work.await();
          assertThat((long[]) work.sparseResult().indices().array())
              .containsExactly(1, 7, 7, 9, 3, 9);
          assertThat((int[]) work.sparseResult().values().array()).containsExactly(3, 2, 1);
          return null;
        });
  }

  @Test
  default void sparseTensorsOfDifferentShapesFailAllRanksAndShowBothCalls() {
    List<List<CollectiveCall>> calls =
        ranks(
            3,
            group -> {
              group.barrier().await();
              long[] shape = group.rank() == 2 ? new long[] {5, 2} : new long[] {4};
              Tensor values = group.rank() == 2 ? Tensor.of(1f, 2f).reshape(1, 2) : Tensor.of(1f);
              SparseTensor mine = SparseTensor.of(shape, Tensor.of(1L).reshape(1, 1), values);
              List<List<CollectiveCall>> seen = new ArrayList<>();
              assertThatThrownBy(() -> group.allReduce(mine).await())
                  .isInstanceOfSatisfying(
                      CollectiveMismatchException.class, e -> seen.add(e.calls()))
                  .hasMessageContaining("[4]")
                  .hasMessageContaining("[5, 2]");
              return seen.get(0);
            });
    assertThat(calls).containsOnly(List.of(sparseSum(0, 4L), sparseSum(2, 5L, 2L)));
  }

  private static CollectiveCall sparseSum(int rank, Long... shape) {
    return new CollectiveCall(
        rank,
        OpType.ALL_REDUCE_SPARSE,
        1,
        new CollectiveCall.Tensors(DType.FLOAT32, -1, List.of(List.of(shape)), Device.Type.CPU),
        ReduceOp.Kind.SUM,
        -1);
  }

  @Test
  default void sparseTensorsOfWhichFewerDimensionsAreSparseFailAllRanks() {
    ranks(
        2,
        group -> {
          group.barrier().await();
          SparseTensor mine =
              group.rank() == 0
                  ? SparseTensor.of(
                      new long[] {3, 2},
                      Tensor.of(1L).reshape(1, 1),
                      Tensor.of(1f, 2f).reshape(1, 2))
                  : SparseTensor.of(
                      new long[] {3, 2}, Tensor.of(1L, 0L).reshape(2, 1), Tensor.of(1f));
          assertThatThrownBy(() -> group.allReduce(mine).await())
              .isInstanceOfSatisfying(
                  CollectiveMismatchException.class,
                  e ->
                      assertThat(e.calls())
                          .containsExactly(sparseSum(0, 3L, 2L), sparseSum(1, 3L, 2L)))
              .hasMessageContaining("1 sparse")
              .hasMessageContaining("2 sparse");
          return null;
        });
  }
}
