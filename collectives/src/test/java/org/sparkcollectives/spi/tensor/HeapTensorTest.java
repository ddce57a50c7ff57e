package org.sparkcollectives.spi.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

class HeapTensorTest {

  @Test
  void aTensorIsTheCallersArray() {
    float[] values = {1, 2, 3};
    Tensor tensor = Tensor.of(values);
    assertThat(tensor.array()).isSameAs(values);
    assertThat(tensor.shape()).containsExactly(3);
    tensor.slice(1, 1).copyFrom(new float[] {20});
    assertThat(values).containsExactly(1, 20, 3);
  }

  @Test
  void theTypeFollowsFromTheArray() {
    assertThat(Tensor.of(1f)).hasToString("float32[1]");
    assertThat(Tensor.of(1d)).hasToString("float64[1]");
    assertThat(Tensor.of(1)).hasToString("int32[1]");
    assertThat(Tensor.of(1L)).hasToString("int64[1]");
    assertThat(Tensor.of((byte) 1)).hasToString("int8[1]");
    assertThat(Tensor.of((short) 1)).hasToString("int16[1]");
    assertThat(Tensor.of(true)).hasToString("bool[1]");
  }

  @Test
  void everyTypeLiesInTheArrayThatItsSizeAsksFor() {
    Map<DType, Object> arrays =
        Map.ofEntries(
            Map.entry(DType.BOOL, new boolean[6]),
            Map.entry(DType.UINT8, new byte[6]),
            Map.entry(DType.INT8, new byte[6]),
            Map.entry(DType.INT16, new short[6]),
            Map.entry(DType.INT32, new int[6]),
            Map.entry(DType.INT64, new long[6]),
            Map.entry(DType.FLOAT16, new short[6]),
            Map.entry(DType.BFLOAT16, new short[6]),
            Map.entry(DType.FLOAT32, new float[6]),
            Map.entry(DType.FLOAT64, new double[6]),
            Map.entry(DType.COMPLEX64, new float[6]),
            Map.entry(DType.COMPLEX128, new double[6]),
            Map.entry(DType.FLOAT8_E4M3, new byte[6]),
            Map.entry(DType.FLOAT8_E5M2, new byte[6]));
    assertThat(arrays).containsOnlyKeys(DType.values());
    arrays.forEach(
        (dtype, array) -> {
          Tensor tensor = Tensor.wrap(dtype, array);
          assertThat(tensor.array()).isSameAs(array);
          assertThat(tensor.count()).isEqualTo(dtype.isComplex() ? 3 : 6);
          assertThat(tensor.byteSize()).isEqualTo(tensor.count() * dtype.bytes());
          assertThat(Tensor.allocate(dtype, 3).array()).hasSameClassAs(array);
        });
    assertThat(Tensor.wrap(DType.BOOL, new byte[6]).count()).isEqualTo(6);
  }

  @Test
  void anArrayThatDoesNotFitIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(DType.FLOAT16, new float[2]))
        .withMessage("A tensor of float16 lies in a short[], not in float[]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(DType.BOOL, new int[2]))
        .withMessage("A tensor of bool lies in a boolean[] or byte[], not in int[]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(DType.INT8, new boolean[2]))
        .withMessage("A tensor of int8 lies in a byte[], not in boolean[]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(DType.FLOAT64, "text"))
        .withMessage("A tensor of float64 lies in a double[], not in java.lang.String");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(DType.COMPLEX64, new float[7]))
        .withMessage(
            "A tensor of complex64 takes two entries of a float[] for an element; this one has the"
                + " odd length 7");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.of((float[]) null))
        .withMessage("A tensor of float32 lies in a float[], not in null");
    assertThatIllegalArgumentException().isThrownBy(() -> Tensor.wrap(null, new float[7]));
  }

  @Test
  void aCountThatNoArrayHoldsIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.allocate(DType.FLOAT32, 3_000_000_000L))
        .withMessage(
            "float32 x 3,000,000,000 does not fit into one Java array, which holds 2,147,483,639 of"
                + " these at most: use several tensors");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.allocate(DType.COMPLEX128, Integer.MAX_VALUE / 2 + 1));
    assertThatIllegalArgumentException().isThrownBy(() -> Tensor.allocate(DType.INT8, -1));
    assertThatIllegalArgumentException().isThrownBy(() -> Tensor.allocate(null, 1));
  }

  @Test
  void aSliceKnowsWhereItBegins() {
    HeapTensor complex = (HeapTensor) HostTensor.allocate(DType.COMPLEX64, 10).slice(3, 4);
    assertThat(complex.arrayIndex(0)).isEqualTo(6);
    assertThat(complex.arrayIndex(4)).isEqualTo(14);
  }

  @Test
  void aBufferInForeignByteOrderIsRefused() {
    ByteOrder foreign =
        ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
            ? ByteOrder.LITTLE_ENDIAN
            : ByteOrder.BIG_ENDIAN;
    ByteBuffer staging = ByteBuffer.allocateDirect(4).order(foreign);
    HostTensor tensor = HostTensor.allocate(DType.FLOAT32, 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.write(0, 1, staging))
        .withMessageContaining(foreign + " order");
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.read(0, 1, staging));
  }

  @Test
  void onlyOurTensorsAreHostTensors() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HostTensor.of(null))
        .withMessage("The tensor is null");
  }
}
