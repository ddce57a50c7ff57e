package org.sparkcollectives.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.testing.Eventually;

final class DeviceMemoryTest {

  private static final int BYTES = 64;

  @Test
  void unreachableMemoryIsFreedByAllocationsOnTheSameGpuAlone() {
    FakeCuda cuda = new FakeCuda(2);
    try (CudaDevice first = CudaDevice.open(cuda, 0);
        CudaDevice second = CudaDevice.open(cuda, 1)) {
      long dropped = DeviceMemory.allocate(first, BYTES).address();
      for (int i = 0; i < 20; i++) {
        System.gc();
        DeviceMemory.allocate(second, BYTES).free();
        assertThat(isAllocated(cuda, dropped)).isTrue();
      }
      Eventually.holds(
          () -> {
            System.gc();
            DeviceMemory.allocate(first, BYTES).free();
            return !isAllocated(cuda, dropped);
          },
          Eventually.LIMIT,
          () -> "the memory is not freed");
    } finally {
      cuda.close();
    }
  }

  @Test
  void memoryThatWentWithItsContextIsNotFreedWhereAnotherIsNow() {
    FakeCuda cuda = new FakeCuda(1);
    try (CudaDevice device = CudaDevice.open(cuda, 0)) {
      DeviceMemory old = DeviceMemory.allocate(device, BYTES);
      // As the end of the context does.
      cuda.free(old.address());
      cuda.allocateNextAt(old.address());
      DeviceMemory other = DeviceMemory.allocate(device, BYTES);
      assertThat(other.address()).isEqualTo(old.address());
      old.free();
      assertThat(isAllocated(cuda, other.address())).isTrue();
      other.free();
      assertThat(isAllocated(cuda, other.address())).isFalse();
    } finally {
      cuda.close();
    }
  }

  private static boolean isAllocated(FakeCuda cuda, long address) {
    try {
      return cuda.bytes(address, BYTES).capacity() >= 0;
    } catch (RuntimeException e) {
      return false;
    }
  }
}
