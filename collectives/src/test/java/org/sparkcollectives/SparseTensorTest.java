package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class SparseTensorTest {

  private static final long[] SHAPE = {4, 3, 2};

  private static void refused(String why, Tensor indices, Tensor values) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SparseTensor.of(SHAPE, indices, values))
        .withMessageContaining("Not a sparse tensor of shape [4, 3, 2]")
        .withMessageContaining(why);
  }

  @Test
  void theLeadingDimensionsAreSparse() {
    long[] places = {3, 0, 2, 2};
    float[] elements = {1, 2, 3, 4};
    SparseTensor tensor =
        SparseTensor.of(SHAPE, Tensor.of(places).reshape(2, 2), Tensor.of(elements).reshape(2, 2));
    assertThat(tensor.sparseDimensions()).isEqualTo(2);
    assertThat(tensor.stored()).isEqualTo(2);
    assertThat(tensor.indices().array()).isSameAs(places);
    assertThat(tensor.values().array()).isSameAs(elements);
    tensor.shape()[0] = 9;
    assertThat(tensor.shape()).containsExactly(4, 3, 2);
    assertThat(tensor).hasToString("float32[4, 3, 2] with 2 stored");
  }

  @Test
  void whatDoesNotFitTogetherIsRefused() {
    Tensor value = Tensor.of(1f).reshape(1);
    refused("the indices must be int64", Tensor.of(1, 1, 1).reshape(3, 1), value);
    refused("the indices must be int64", Tensor.of(1L, 1L, 1L), value);
    refused("0 sparse dimensions do not fit", Tensor.of(new long[0]).reshape(0, 0), value);
    refused("4 sparse dimensions do not fit", Tensor.of(new long[4]).reshape(4, 1), value);
    refused(
        "the values must have the shape [1, 2], not [1]", Tensor.of(1L, 1L).reshape(2, 1), value);
    refused("place 4 is outside of dimension 0", Tensor.of(4L, 0L, 0L).reshape(3, 1), value);
    refused("place -1 is outside of dimension 2", Tensor.of(0L, 0L, -1L).reshape(3, 1), value);
  }
}
