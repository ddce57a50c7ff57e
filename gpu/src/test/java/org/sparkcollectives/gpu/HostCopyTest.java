package org.sparkcollectives.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.gpu.testing.RecordedCuda;

/** Tests which calls of the driver a copy between host memory and a GPU makes, and when. */
final class HostCopyTest {

  private final FakeCuda fake = new FakeCuda(1);
  private final RecordedCuda recorded =
      new RecordedCuda(
          fake,
          Set.of(
              "copyToDevice",
              "copyToHost",
              "recordEvent",
              "synchronizeEvent",
              "synchronizeStream",
              "synchronizeContext",
              "allocateHost",
              "freeHost"));

  private CudaDevice gpu;

  @BeforeEach
  void open() {
    gpu = CudaDevice.open(recorded.cuda(), 0);
  }

  @AfterEach
  void nothingIsLeft() {
    recorded.refuse();
    gpu.close();
    fake.awaitNothingLeft();
    fake.close();
    assertThat(fake.streams().errors()).isEmpty();
  }

  private static byte[] values(int count) {
    byte[] values = new byte[count];
    new Random(1).nextBytes(values);
    return values;
  }

  @Test
  void oneCopyByTheBusIsUnderWayWhileTheHostCopies() {
    byte[] values = values(3 * HostCopy.PIECE_BYTES - 1);
    DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.INT8, values.length);
    tensor.copyFrom(values);
    assertThat(recorded.takeCalls())
        .containsExactly(
            "allocateHost",
            "copyToDevice",
            "recordEvent",
            "allocateHost",
            "copyToDevice",
            // The first buffer is reused once the bus is done with it, and not before.
            "synchronizeEvent",
            "copyToDevice",
            "synchronizeStream");
    byte[] back = new byte[values.length];
    tensor.copyTo(back);
    assertThat(back).isEqualTo(values);
    assertThat(recorded.takeCalls())
        .containsExactly(
            "copyToHost",
            "recordEvent",
            "copyToHost",
            "recordEvent",
            "synchronizeEvent",
            "copyToHost",
            "synchronizeEvent",
            "synchronizeStream");
    tensor.free();
  }

  @Test
  void whatFitsIntoOnePieceIsOneCopyFromMemoryThatIsPinnedOnce() {
    DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.INT8, 5000);
    for (int i = 0; i < 3; i++) {
      tensor.copyFrom(values(5000));
    }
    assertThat(recorded.takeCalls())
        .containsExactly(
            "allocateHost",
            "copyToDevice",
            "synchronizeStream",
            "copyToDevice",
            "synchronizeStream",
            "copyToDevice",
            "synchronizeStream");
    tensor.free();
    gpu.close();
    assertThat(recorded.takeCalls()).containsExactly("synchronizeContext", "freeHost");
  }

  @Test
  void twoPiecesNeedNoEventOnTheWayThere() {
    byte[] values = values(2 * HostCopy.PIECE_BYTES);
    DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.INT8, values.length);
    tensor.copyFrom(values);
    assertThat(recorded.takeCalls())
        .containsExactly(
            "allocateHost", "copyToDevice", "allocateHost", "copyToDevice", "synchronizeStream");
    tensor.free();
  }

  @Test
  void aCopyThatIsRefusedLeavesItsBuffersWhenTheGpuHasDoneWithThem() {
    DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.INT8, 10);
    recorded.refuse("copyToDevice");
    assertThatThrownBy(() -> tensor.copyFrom(values(10))).isInstanceOf(CudaException.class);
    assertThat(recorded.takeCalls()).containsExactly("allocateHost", "synchronizeStream");
    recorded.refuse();
    tensor.copyFrom(values(10));
    assertThat(recorded.takeCalls()).containsExactly("copyToDevice", "synchronizeStream");
    tensor.free();
  }

  @Test
  void buffersThatTheGpuMayStillUseAreNotUsedAgain() {
    DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.INT8, 10);
    recorded.refuse("synchronizeStream");
    assertThatThrownBy(() -> tensor.copyFrom(values(10))).isInstanceOf(CudaException.class);
    recorded.refuse();
    tensor.copyFrom(values(10));
    assertThat(recorded.takeCalls())
        .containsExactly(
            "allocateHost", "copyToDevice", "allocateHost", "copyToDevice", "synchronizeStream");
    tensor.free();
    gpu.close();
    fake.awaitNothingLeftAfterCollection();
    // First the buffer that was left to the garbage collector, then the kept ones.
    assertThat(recorded.takeCalls())
        .containsExactly("synchronizeContext", "freeHost", "synchronizeContext", "freeHost");
  }
}
