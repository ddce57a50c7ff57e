package org.sparkcollectives.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.testing.FakeCuda;

/** Tests tensors in the memory of a GPU, over a fake of the driver. */
class DeviceTensorTest {

  private final FakeCuda cuda = new FakeCuda(2);
  private CudaDevice gpu;

  @BeforeEach
  void open() {
    gpu = CudaDevice.open(cuda, 1);
  }

  @AfterEach
  void nothingIsLeft() {
    gpu.close();
    cuda.awaitNothingLeft();
    cuda.close();
    assertThat(cuda.streams().errors()).isEmpty();
  }

  @Test
  void whatIsCopiedThereComesBack() {
    // More elements than a piece of pinned memory holds.
    int[] values = IntStream.range(0, 3_000_000).toArray();
    DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(values));
    assertThat(tensor.device()).isEqualTo(Device.cuda(1));
    int[] back = new int[values.length];
    tensor.copyTo(back);
    assertThat(back).isEqualTo(values);
    Tensor host = Tensor.allocate(DType.INT32, values.length);
    host.copyFrom(tensor);
    assertThat((int[]) host.array()).isEqualTo(values);
    tensor.free();
    tensor.free();
  }

  @Test
  void aSliceIsAViewOfTheSameMemory() {
    DeviceTensor whole = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2, 3, 4));
    DeviceTensor part = whole.slice(1, 2);
    part.copyFrom(new float[] {20, 30});
    float[] values = new float[4];
    whole.reshape(2, 2).copyTo(values);
    assertThat(values).containsExactly(1, 20, 30, 4);
    assertThat(part.overlaps(whole)).isTrue();
    assertThat(part.overlaps(whole.slice(3, 1))).isFalse();
    assertThat(part.isSameMemoryAs(whole.slice(1, 2))).isTrue();
    assertThatThrownBy(() -> whole.slice(3, 2)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> whole.reshape(3)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> whole.copyFrom(Tensor.of(1f)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("float32[4] on cuda:1");
    whole.free();
  }

  @Test
  void memoryOfAnotherLibraryIsWrappedWhereItIs() {
    DeviceTensor owner = DeviceTensor.allocate(gpu, DType.FLOAT64, 2);
    DeviceTensor foreign = DeviceTensor.wrap(gpu, DType.FLOAT32, owner.address(), 4);
    foreign.copyFrom(new float[] {1, 2, 3, 4});
    foreign.free();
    float[] values = new float[4];
    foreign.copyTo(values);
    assertThat(values).containsExactly(1, 2, 3, 4);
    assertThatThrownBy(() -> DeviceTensor.wrap(gpu, DType.FLOAT32, owner.address() + 1, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> DeviceTensor.wrap(gpu, DType.FLOAT32, 0x10, 1))
        .isInstanceOf(CudaException.class);
    try (CudaDevice other = CudaDevice.open(cuda, 0)) {
      assertThatThrownBy(() -> DeviceTensor.wrap(other, DType.FLOAT32, owner.address(), 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("in the memory of cuda:1, not of cuda:0");
    }
    owner.free();
  }

  @Test
  void anEmptyTensorHasNoMemory() {
    DeviceTensor empty = DeviceTensor.allocate(gpu, DType.INT64, 0);
    empty.copyFrom(new long[0]);
    assertThat(empty.count()).isZero();
    assertThat(empty.address()).isZero();
  }

  @Test
  void aTensorOutlivesTheDeviceThatItWasAllocatedOn() {
    DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2, 3));
    gpu.close();
    float[] values = new float[3];
    tensor.copyTo(values);
    assertThat(values).containsExactly(1, 2, 3);
    tensor.copyFrom(new float[] {4, 5, 6});
    tensor.slice(1, 2).copyTo(new float[2]);
    tensor.free();
  }

  @Test
  void aTensorThatWasFreedIsRefused() {
    DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2));
    DeviceTensor other = DeviceTensor.copyOf(gpu, Tensor.of(3f, 4));
    DeviceTensor view = tensor.slice(1, 1);
    tensor.free();
    List<ThrowingCallable> uses =
        List.of(
            tensor::zero,
            () -> tensor.copyFrom(new float[2]),
            () -> tensor.copyTo(new float[2]),
            () -> tensor.copyFrom(other),
            () -> other.copyFrom(tensor),
            () -> view.copyTo(new float[1]));
    for (ThrowingCallable use : uses) {
      assertThatThrownBy(use)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("after it was freed");
    }
    other.free();
  }

  @Test
  void memoryThatWasUsedBeforeIsZeroAgain() {
    DeviceTensor first = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2));
    first.free();
    DeviceTensor second = DeviceTensor.allocate(gpu, DType.FLOAT32, 2);
    assertThat(second.address()).isEqualTo(first.address());
    float[] values = {7, 7};
    second.copyTo(values);
    assertThat(values).containsExactly(0, 0);
    second.free();
  }
}
