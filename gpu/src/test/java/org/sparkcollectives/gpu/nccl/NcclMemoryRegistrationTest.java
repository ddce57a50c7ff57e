package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.DType;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.gpu.DeviceTensor;

/** Tests the registration of memory with a communicator that is created, used or aborted. */
final class NcclMemoryRegistrationTest {

  private static final Duration LIMIT = CommunicatorFixture.LIMIT;

  @RegisterExtension final CommunicatorFixture fixture = new CommunicatorFixture();

  private CommunicatorQueue queue() {
    return fixture.queue;
  }

  @Test
  void memoryIsAllocatedAlsoAfterTheCommunicatorWasAborted() {
    queue().communicator().createNow(LIMIT);
    NcclMemory memory = new NcclMemory(fixture.nccl, fixture.device, new DaemonThreads("0"));
    memory.use(queue().communicator().get(), queue());
    queue().communicator().abort();
    assertThat(memory.allocate(DType.FLOAT32, 8).count()).isEqualTo(8);
    memory.deregister();
    memory.free();
  }

  @Test
  void registrationWaitsForACommunicatorThatIsBeingCreated() throws Exception {
    NcclMemory memory = new NcclMemory(fixture.nccl, fixture.device, new DaemonThreads("0"));
    CountDownLatch used = new CountDownLatch(1);
    CountDownLatch ready = new CountDownLatch(1);
    fixture.useQueue(
        1,
        created -> {
          memory.use(created, queue());
          used.countDown();
          try {
            assertThat(ready.await(60, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    Thread creation = CommunicatorFixture.start(() -> queue().communicator().createNow(LIMIT));
    used.await();
    DeviceTensor tensor = DeviceTensor.allocate(fixture.device, DType.FLOAT32, 8);
    CompletableFuture<MemoryRegistration> registered =
        CompletableFuture.supplyAsync(() -> memory.register(tensor));
    assertThatThrownBy(() -> registered.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    ready.countDown();
    CommunicatorFixture.join(creation);
    registered.get(60, TimeUnit.SECONDS);
    assertThat(fixture.nccl.registrations()).isOne();
    memory.deregister();
    memory.free();
    tensor.free();
  }

  @Test
  void deregistrationDoesNotWaitForACommunicatorWithoutRegisteredMemory() {
    queue().communicator().createNow(LIMIT);
    NcclMemory memory = new NcclMemory(fixture.nccl, fixture.device, fixture.threads);
    memory.use(queue().communicator().get(), queue());
    queue()
        .exclusively(
            LIMIT,
            (communicator, deadline) -> {
              Thread end = CommunicatorFixture.start(memory::deregister);
              assertThat(DaemonThreads.join(end, TimeUnit.SECONDS.toNanos(5))).isTrue();
              return communicator;
            });
    memory.free();
  }
}
