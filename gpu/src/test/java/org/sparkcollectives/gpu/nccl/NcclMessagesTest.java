package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests messages between GPUs, and operations in one launch, over fakes of the driver and of NCCL.
 */
@ExtendWith(LeakCheck.class)
class NcclMessagesTest {

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  @Test
  void messagesOfAPairMatchInTheirOrderAndRingsDoNotLock() {
    gpus.run(
        3,
        (world, gpu) -> {
          int rank = world.rank();
          int next = (rank + 1) % 3;
          int previous = (rank + 2) % 3;
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            DeviceTensor first = tensors.of(0f);
            DeviceTensor second = tensors.of(0f);
            // Each rank sends before it receives: no send may wait for its peer on the host.
            Work[] works = {
              world.send(tensors.of(rank), next, 0),
              world.send(tensors.of(rank + 10), next, 0),
              world.recv(first, previous, 0),
              world.recv(second, previous, 0)
            };
            for (Work each : works) {
              each.await();
            }
            assertThat(GpuTensors.floats(first)).containsExactly(previous);
            assertThat(GpuTensors.floats(second)).containsExactly(previous + 10);
            assertThat(works[3].sequenceNumber()).isEqualTo(3);
            assertThat(works[3].sourceRank()).isEqualTo(previous);
            assertThatThrownBy(works[0]::sourceRank)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Only a receive has a source rank");
          }
          return null;
        });
  }

  @Test
  void aBatchAndABlockAreOneLaunchEach() {
    gpus.run(
        2,
        (world, gpu) -> {
          int peer = 1 - world.rank();
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            DeviceTensor received = tensors.of(0f);
            List<Work> works =
                world.batch(
                    List.of(
                        P2POp.send(tensors.of(world.rank()), peer, 0),
                        P2POp.recv(received, peer, 0)));
            works.forEach(Work::await);
            assertThat(GpuTensors.floats(received)).containsExactly(peer);

            DeviceTensor a = tensors.of(1f);
            DeviceTensor b = tensors.of(2f);
            Coalescing block = world.coalesce();
            try (block) {
              world.allReduce(a, ReduceOp.SUM);
              world.allReduce(b, ReduceOp.SUM);
            }
            block.work().await();
            assertThat(GpuTensors.floats(a)).containsExactly(2);
            assertThat(GpuTensors.floats(b)).containsExactly(4);
            world.allReduceCoalesced(List.of(a, b), ReduceOp.SUM).await();
            assertThat(GpuTensors.floats(a)).containsExactly(4);
          }
          return null;
        });
    // Two ranks, each with a batch, a block and a coalesced operation.
    assertThat(gpus.nccl().calls().stream().filter("ncclGroupEnd"::equals)).hasSize(6);
  }
}
