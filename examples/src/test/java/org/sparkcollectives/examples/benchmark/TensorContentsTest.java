package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

class TensorContentsTest {

  /** More than one chunk, and not a whole number of them. */
  private static final int COUNT = 70_001;

  /** Returns numbers of which neighbours differ, in every type. */
  private static TensorContents.Numbers numbers(DType dtype) {
    int period = dtype == DType.BOOL ? 2 : 13;
    return place -> place % period;
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void whatWasFilledInIsFoundAgain(DType dtype) {
    TensorContents contents = new TensorContents(dtype);
    Tensor tensor = Tensor.allocate(dtype, COUNT);
    contents.fill(tensor, numbers(dtype));
    assertThat(contents.wrong(tensor, numbers(dtype))).isZero();
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void eachWrongElementIsCountedOnce(DType dtype) {
    TensorContents contents = new TensorContents(dtype);
    Tensor tensor = Tensor.allocate(dtype, COUNT);
    contents.fill(tensor, numbers(dtype));
    for (long wrong : new long[] {0, 1, 17, COUNT - 1}) {
      long other = wrong * contents.places() + 1;
      contents.fill(tensor.slice(wrong, 1), place -> numbers(dtype).at(other + place));
    }
    assertThat(contents.wrong(tensor, numbers(dtype))).isEqualTo(4);
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void elementsThatMovedByOneAreWrong(DType dtype) {
    TensorContents contents = new TensorContents(dtype);
    Tensor tensor = Tensor.allocate(dtype, COUNT);
    int places = contents.places();
    contents.fill(tensor, place -> numbers(dtype).at(place + places));
    assertThat(contents.wrong(tensor, numbers(dtype))).isEqualTo(COUNT);
  }
}
