package org.sparkcollectives.gpu;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.gpu.testing.CollectivesProgram;
import org.sparkcollectives.gpu.testing.RanksOnOneGpu;

/** Tests worlds whose ranks are processes that share one GPU. */
@Tag("gpu")
final class GpuWorldsTest {

  @ParameterizedTest
  @CsvSource({"netty, 1", "netty, 2", "netty, 3", "nccl, 1", "nccl, 2", "nccl, 3"})
  void everyCollectiveOnOneGpu(String backend, int size) throws Exception {
    RanksOnOneGpu.run(CollectivesProgram.class, size, CollectivesProgram.DONE, backend);
  }
}
