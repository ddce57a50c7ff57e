package org.sparkcollectives.spi.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;

/** Tests which values of each type are NaNs. */
class NanCheckTest {

  private static final int COUNT = 3000;

  static Stream<Arguments> nans() {
    return Stream.of(
        Arguments.of(DType.FLOAT32, new float[] {Float.NaN}),
        Arguments.of(DType.FLOAT64, new double[] {Double.NaN}),
        Arguments.of(DType.COMPLEX64, new float[] {1, Float.NaN}),
        Arguments.of(DType.COMPLEX128, new double[] {Double.NaN, 1}),
        Arguments.of(DType.FLOAT16, new short[] {0x7c01}),
        Arguments.of(DType.FLOAT16, new short[] {(short) 0xfe00}),
        Arguments.of(DType.BFLOAT16, new short[] {0x7f81}),
        Arguments.of(DType.BFLOAT16, new short[] {(short) 0xffc0}),
        Arguments.of(DType.FLOAT8_E4M3, new byte[] {(byte) 0xff}),
        Arguments.of(DType.FLOAT8_E5M2, new byte[] {0x7d}));
  }

  @ParameterizedTest
  @MethodSource("nans")
  void theFirstOneIsFoundWhereverItIs(DType dtype, Object nan) {
    for (int at : List.of(0, 511, 512, 1023, 1024, COUNT - 1)) {
      HostTensor tensor = HostTensor.allocate(dtype, COUNT);
      tensor.fromArray(COUNT - 1, 1, nan, 0);
      tensor.fromArray(at, 1, nan, 0);
      assertThat(NanCheck.first(tensor)).isEqualTo(at);
    }
  }

  static Stream<Arguments> numbers() {
    return Stream.of(
        Arguments.of(
            DType.FLOAT32, new float[] {Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0f}),
        Arguments.of(DType.FLOAT64, new double[] {Double.NEGATIVE_INFINITY, Double.MIN_VALUE}),
        Arguments.of(DType.FLOAT16, new short[] {0x7c00, (short) 0xfc00, 0x7bff}),
        Arguments.of(DType.BFLOAT16, new short[] {0x7f80, (short) 0xff80, 0x7f7f}),
        // The first format has no infinity: the bits of one are the number 448.
        Arguments.of(DType.FLOAT8_E4M3, new byte[] {0x7e, (byte) 0xfe}),
        Arguments.of(DType.FLOAT8_E5M2, new byte[] {0x7c, (byte) 0xfc}));
  }

  @ParameterizedTest
  @MethodSource("numbers")
  void infinitiesAreNumbers(DType dtype, Object values) {
    assertThat(NanCheck.first(HostTensor.wrap(dtype, values))).isEqualTo(-1);
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"BOOL", "UINT8", "INT8", "INT16", "INT32", "INT64"})
  void typesWithoutNansHaveNone(DType dtype) {
    HostTensor tensor = HostTensor.allocate(dtype, 8);
    assertThat(NanCheck.first(tensor)).isEqualTo(-1);
  }

  @Test
  void aTensorWithoutElementsHasNone() {
    assertThat(NanCheck.first(HostTensor.allocate(DType.FLOAT32, 0))).isEqualTo(-1);
  }
}
