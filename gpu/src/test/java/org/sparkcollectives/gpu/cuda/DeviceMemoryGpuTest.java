package org.sparkcollectives.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.DeviceTensor;

/** Tests the memory of a GPU through the driver. */
@Tag("gpu")
final class DeviceMemoryGpuTest {

  private CudaDevice gpu;

  @BeforeEach
  void open() {
    gpu = CudaDevice.open(DriverCuda.load(), 0);
  }

  @AfterEach
  void close() {
    gpu.close();
  }

  private MemoryInfo info() {
    long previous = gpu.enter();
    try {
      return gpu.cuda().memoryInfo();
    } finally {
      gpu.leave(previous);
    }
  }

  @Test
  void idleMemoryIsFreedWhenTheGpuIsFullAndTheErrorSaysWhoHoldsTheRest() {
    gpu.emptyCache();
    MemoryInfo before = info();
    assertThat(before.free()).isBetween(1L, before.total());
    DeviceMemory half = DeviceMemory.allocate(gpu, before.free() / 2);
    half.free();
    DeviceMemory most = DeviceMemory.allocate(gpu, before.free() / 4 * 3);
    assertThat(gpu.memoryReserved()).isEqualTo(gpu.memoryAllocated());
    assertThat(info().free()).isLessThan(before.free() / 2);
    assertThatThrownBy(() -> DeviceMemory.allocate(gpu, before.free() / 2))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("cuda:0 has no memory for " + before.free() / 2 + " bytes");
    most.free();
    assertThat(gpu.memoryReserved()).isGreaterThan(before.free() / 2);
    gpu.emptyCache();
    assertThat(gpu.memoryReserved()).isEqualTo(gpu.memoryAllocated());
    assertThat(info().free()).isGreaterThan(before.free() / 2);
  }

  @Test
  void theDriverTellsStreamsOfAnotherLibraryApart() {
    try (CudaStream first = CudaStream.create(gpu, false);
        CudaStream second = CudaStream.create(gpu, false)) {
      DeviceMemory memory = allocateIn(first);
      memory.free();
      DeviceMemory elsewhere = allocateIn(second);
      assertThat(elsewhere.address()).isNotEqualTo(memory.address());
      DeviceMemory again = allocateIn(first);
      assertThat(again.address()).isEqualTo(memory.address());
      elsewhere.free();
      again.free();
    }
  }

  private DeviceMemory allocateIn(CudaStream stream) {
    try (CudaStream.Use use = CudaStream.foreign(gpu, stream.handle()).use()) {
      assertThat(use).isNotNull();
      return DeviceMemory.allocate(gpu, 1000);
    }
  }

  @Test
  void aTensorOutlivesTheDeviceThatItWasAllocatedOn() {
    DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2, 3));
    gpu.close();
    float[] values = new float[3];
    tensor.copyTo(values);
    assertThat(values).containsExactly(1, 2, 3);
    tensor.free();
  }

  @Test
  void whatIsLargerThanTwoPiecesOfPinnedMemoryArrivesWhole() {
    int[] values = new Random(1).ints(5_000_001).toArray();
    DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(values));
    int[] back = new int[values.length];
    tensor.copyTo(back);
    assertThat(back).isEqualTo(values);
    tensor.free();
  }
}
