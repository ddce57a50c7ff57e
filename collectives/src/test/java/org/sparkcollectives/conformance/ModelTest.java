package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;

/** Tests that the model accepts no wrong result. */
class ModelTest {

  private static ByteBuffer numbers(DType dtype, double... values) {
    int width = dtype.isComplex() ? dtype.bytes() / 2 : dtype.bytes();
    ByteBuffer bytes = ByteBuffer.allocate(values.length * width).order(ByteOrder.nativeOrder());
    for (int i = 0; i < values.length; i++) {
      Contributions.put(dtype, bytes, i, values[i]);
    }
    return bytes;
  }

  private static ByteBuffer bytes(int... values) {
    ByteBuffer bytes = ByteBuffer.allocate(values.length);
    Arrays.stream(values).forEach(value -> bytes.put((byte) value));
    return bytes.flip();
  }

  private static String difference(
      DType dtype, Reduction reduction, ByteBuffer actual, ByteBuffer... terms) {
    return Model.reduced(dtype, reduction, List.of(terms)).difference(actual);
  }

  @ParameterizedTest
  @EnumSource(names = {"FLOAT16", "BFLOAT16"})
  void halvesThatAreRoundedAtEachStepAreFound(DType dtype) {
    double small = dtype == DType.FLOAT16 ? 0x1p-11 : 0x1p-8;
    ByteBuffer one = numbers(dtype, 1);
    ByteBuffer little = numbers(dtype, small);
    assertThat(
            difference(
                dtype, Reduction.SUM, numbers(dtype, 1 + 3 * small), one, little, little, little))
        .isNull();
    assertThat(difference(dtype, Reduction.SUM, one, one, little, little, little))
        .startsWith("element 0 is 1.0, not ");
  }

  @ParameterizedTest
  @EnumSource(names = {"FLOAT32", "FLOAT64", "COMPLEX64", "COMPLEX128"})
  void sumsMayBeOffByTheirRoundingsAndNoMore(DType dtype) {
    double step = dtype == DType.FLOAT32 || dtype == DType.COMPLEX64 ? 0x1p-23 : 0x1p-52;
    ByteBuffer one = numbers(dtype, 1, 1);
    // Two roundings of a magnitude of 3 make up 3 steps.
    assertThat(difference(dtype, Reduction.SUM, numbers(dtype, 3, 3 + 2 * step), one, one, one))
        .isNull();
    assertThat(difference(dtype, Reduction.SUM, numbers(dtype, 3, 3 + 10 * step), one, one, one))
        .contains(" 1 is ");
    assertThat(difference(dtype, Reduction.AVG, numbers(dtype, 1, 1 - 10 * step), one, one, one))
        .contains(" 1 is ");
  }

  @Test
  void minimaAreExactDownToTheSignOfZero() {
    ByteBuffer zero = numbers(DType.FLOAT32, 0.0);
    ByteBuffer minusZero = numbers(DType.FLOAT32, -0.0);
    assertThat(difference(DType.FLOAT32, Reduction.MIN, minusZero, zero, minusZero)).isNull();
    assertThat(difference(DType.FLOAT32, Reduction.MIN, zero, zero, minusZero)).isNotNull();
    ByteBuffer nan = numbers(DType.FLOAT32, Double.NaN);
    assertThat(
            difference(DType.FLOAT32, Reduction.MIN, nan.duplicate().order(nan.order()), zero, nan))
        .isNull();
    assertThat(difference(DType.FLOAT32, Reduction.MIN, zero, zero, nan)).isNotNull();
  }

  @Test
  void integersWrapAndUnsignedOnesHaveNoSign() {
    assertThat(difference(DType.INT8, Reduction.SUM, bytes(-128), bytes(127), bytes(1))).isNull();
    assertThat(difference(DType.INT8, Reduction.SUM, bytes(127), bytes(127), bytes(1)))
        .isEqualTo("element 0 is 0x7f, not 0x80 to 0x80");
    assertThat(difference(DType.UINT8, Reduction.MAX, bytes(200), bytes(200), bytes(1))).isNull();
    assertThat(difference(DType.INT8, Reduction.MAX, bytes(1), bytes(200), bytes(1))).isNull();
    assertThat(difference(DType.INT8, Reduction.BXOR, bytes(6), bytes(5), bytes(3))).isNull();
  }

  @Test
  void truthIsOneOnceItIsReducedAndAnythingWhenItIsMoved() {
    assertThat(difference(DType.BOOL, Reduction.BXOR, bytes(0, 1), bytes(2, 0), bytes(7, 4)))
        .isNull();
    assertThat(difference(DType.BOOL, Reduction.SUM, bytes(2), bytes(2), bytes(2))).isNotNull();
    assertThat(Expected.moved(DType.BOOL, bytes(2, 0)).difference(bytes(1, 0))).isNull();
    assertThat(Expected.moved(DType.BOOL, bytes(2, 0)).difference(bytes(1, 1))).isNotNull();
    assertThat(Expected.moved(DType.UINT8, bytes(2)).difference(bytes(1))).isNotNull();
    assertThat(Expected.moved(DType.UINT8, bytes(2)).difference(bytes(2, 2))).isNotNull();
  }
}
