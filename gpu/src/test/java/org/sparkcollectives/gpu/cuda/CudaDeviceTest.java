package org.sparkcollectives.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkcollectives.gpu.testing.FakeCuda;

final class CudaDeviceTest {

  @Test
  void aThreadWhoseLastGpuWasClosedWorksOnAnother() {
    FakeCuda cuda = new FakeCuda(2);
    try (CudaDevice first = CudaDevice.open(cuda, 0)) {
      first.leave(first.enter());
    }
    try (CudaDevice second = CudaDevice.open(cuda, 1)) {
      for (int i = 0; i < 2; i++) {
        long previous = second.enter();
        try {
          cuda.free(cuda.allocate(8));
        } finally {
          second.leave(previous);
        }
      }
    }
    assertThat(cuda.leaks()).isEmpty();
    cuda.close();
  }
}
