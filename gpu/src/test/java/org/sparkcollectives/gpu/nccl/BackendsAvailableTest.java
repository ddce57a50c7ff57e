package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.staged.StagedBackendProvider;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.spi.BackendRegistry;

/** Tests whether the backends for GPUs report that they can be used. */
class BackendsAvailableTest {

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  @Test
  void ncclIsAvailableWhereTheDriverAndItsLibraryAre() {
    assertThat(BackendRegistry.isAvailable("cpu:netty,cuda:" + FakeGpus.BACKEND)).isTrue();
    NcclBackendProvider withoutDriver =
        new NcclBackendProvider("n", this::noDriver, path -> gpus.nccl(), NcclTuning.DEFAULT);
    assertThat(withoutDriver.isAvailable()).isFalse();
    NcclBackendProvider withoutLibrary =
        new NcclBackendProvider(
            "n",
            gpus::cuda,
            path -> {
              throw new NcclException("no libnccl", null);
            },
            NcclTuning.DEFAULT);
    assertThat(withoutLibrary.isAvailable()).isFalse();
  }

  @Test
  void stagingThroughTheHostIsAvailableWhereTheDriverIs() {
    assertThat(new StagedBackendProvider("s", gpus::cuda).isAvailable()).isTrue();
    assertThat(new StagedBackendProvider("s", this::noDriver).isAvailable()).isFalse();
    // The name asks for the backend of the GPU, not for the host's.
    assertThat(BackendRegistry.isAvailable("cuda:netty"))
        .isEqualTo(BackendRegistry.provider(BackendRegistry.NETTY_ON_GPU).isAvailable());
  }

  private Cuda noDriver() {
    throw new CudaException("no driver", null);
  }
}
