package org.sparkcollectives.spi.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

class DirectTensorTest {

  @Test
  void aTensorIsTheCallersBufferFromPositionToLimitAtTheTimeOfTheCall() {
    ByteBuffer buffer = TensorMemory.direct(40).position(8).limit(32);
    Tensor tensor = Tensor.wrap(DType.INT32, buffer);
    assertThat(buffer.position()).isEqualTo(8);
    assertThat(buffer.limit()).isEqualTo(32);
    buffer.clear();
    assertThat(tensor.count()).isEqualTo(6);
    assertThat(tensor.array()).isNull();

    tensor.copyFrom(new int[] {1, 2, 3, 4, 5, 6});
    assertThat(buffer.getInt(4)).isZero();
    assertThat(buffer.getInt(8)).isEqualTo(1);
    assertThat(buffer.getInt(28)).isEqualTo(6);
    assertThat(buffer.getInt(32)).isZero();
    buffer.putInt(12, 20);
    int[] values = new int[6];
    tensor.copyTo(values);
    assertThat(values).containsExactly(1, 20, 3, 4, 5, 6);
  }

  @Test
  void aBufferThatCannotBeATensorIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(DType.FLOAT32, ByteBuffer.allocate(8)))
        .withMessage(
            "The buffer is on the heap: wrap its array instead, or use ByteBuffer.allocateDirect");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                Tensor.wrap(
                    DType.FLOAT32,
                    TensorMemory.direct(8).asReadOnlyBuffer().order(ByteOrder.nativeOrder())))
        .withMessage("The buffer is read-only; a tensor is read and written");
    ByteOrder foreign =
        ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
            ? ByteOrder.LITTLE_ENDIAN
            : ByteOrder.BIG_ENDIAN;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(DType.FLOAT32, TensorMemory.direct(8).order(foreign)))
        .withMessageContaining("call order(ByteOrder.nativeOrder()) on it");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(DType.FLOAT64, TensorMemory.direct(12)))
        .withMessage(
            "The 12 bytes from the buffer's position to its limit are no whole number of float64"
                + " elements, which take 8 bytes each");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(DType.FLOAT64, (ByteBuffer) null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tensor.wrap(null, TensorMemory.direct(12)));
  }

  @Test
  void theCallersBufferStaysReachableThroughASlice() {
    ByteBuffer buffer = TensorMemory.direct(64);
    WeakReference<ByteBuffer> reachable = new WeakReference<>(buffer);
    Tensor slice = Tensor.wrap(DType.FLOAT32, buffer).slice(2, 4).reshape(2, 2);
    buffer = null;
    try {
      System.gc();
      assertThat(reachable.get()).isNotNull();
    } finally {
      Reference.reachabilityFence(slice);
    }
  }
}
