package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Sums of sparse tensors. */
interface SparseReductionsContract extends RanksUnderTest {

  @Test
  default void sparseTensorsAreSummedUpWhereverTheirPlacesAre() {
    ranks(
        3,
        group -> {
          int rank = group.rank();
          // Each stores row `rank` twice, and all store row 4.
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
  default void sparseTensorsOfDifferentShapesFailBothRanks() {
    ranks(
        2,
        group -> {
          SparseTensor mine =
              SparseTensor.of(
                  new long[] {4 + group.rank()}, Tensor.of(1L).reshape(1, 1), Tensor.of(1f));
          assertThatThrownBy(() -> group.allReduce(mine).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageMatching("(?s).*(shape|all-reduce-sparse #0 of float32 \\[5\\]).*");
          return null;
        });
  }
}
