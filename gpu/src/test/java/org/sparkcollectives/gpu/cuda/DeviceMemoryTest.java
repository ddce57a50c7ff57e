package org.sparkcollectives.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.testing.Eventually;

/** Tests the reuse of a GPU's memory that was freed, over a fake of the driver. */
final class DeviceMemoryTest {

  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  private final FakeCuda cuda = new FakeCuda(2);
  private CudaDevice gpu;

  @BeforeEach
  void open() {
    gpu = CudaDevice.open(cuda, 0);
  }

  @AfterEach
  void nothingIsLeft() {
    awaitCollection();
    gpu.close();
    cuda.awaitNothingLeft();
    cuda.close();
    assertThat(cuda.streams().errors()).isEmpty();
  }

  private DeviceMemory allocate(long bytes) {
    return DeviceMemory.allocate(gpu, bytes);
  }

  private DeviceMemory allocate(long bytes, CudaStream stream) {
    try (CudaStream.Use use = stream.use()) {
      assertThat(use).isNotNull();
      return allocate(bytes);
    }
  }

  @Test
  void whatIsFreedIsUsedAgainInTheSameStream() {
    DeviceMemory first = allocate(1000);
    first.free();
    first.free();
    DeviceMemory second = allocate(700);
    assertThat(second.address()).isEqualTo(first.address());
    assertThat(allocate(1000).address()).isNotEqualTo(first.address());
    second.free();
  }

  @Test
  void whatIsFreedIsNotUsedAgainInAnotherStream() {
    try (CudaStream stream = CudaStream.create(gpu, false)) {
      DeviceMemory first = allocate(KIB);
      first.free();
      DeviceMemory inStream = allocate(KIB, stream);
      assertThat(inStream.address()).isNotEqualTo(first.address());
      inStream.free();
      assertThat(allocate(KIB).address()).isEqualTo(first.address());
      assertThat(allocate(KIB, stream).address()).isEqualTo(inStream.address());
    }
  }

  @Test
  void aStreamOfAnotherLibraryIsKnownByMoreThanItsHandle() {
    CudaStream own = CudaStream.create(gpu, false);
    DeviceMemory first = allocate(KIB, CudaStream.foreign(gpu, own.handle()));
    first.free();
    DeviceMemory second = allocate(KIB, CudaStream.foreign(gpu, own.handle()));
    assertThat(second.address()).isEqualTo(first.address());
    second.free();
    own.close();
    cuda.streams().giveNext(own.handle());
    CudaStream later = CudaStream.create(gpu, false);
    assertThat(later.handle()).isEqualTo(own.handle());
    DeviceMemory third = allocate(KIB, CudaStream.foreign(gpu, later.handle()));
    assertThat(third.address()).isNotEqualTo(first.address());
    third.free();
    later.close();
  }

  @Test
  void withoutStreamIdsMemoryOfForeignStreamsIsNotReused() {
    cuda.streams().removeIds();
    try (CudaStream own = CudaStream.create(gpu, false)) {
      DeviceMemory first = allocate(KIB, CudaStream.foreign(gpu, own.handle()));
      first.free();
      DeviceMemory second = allocate(KIB, CudaStream.foreign(gpu, own.handle()));
      assertThat(second.address()).isNotEqualTo(first.address());
      second.free();
    }
  }

  @Test
  void memoryOfAStreamThatIsGoneIsNotUsedAgain() {
    CudaStream stream = CudaStream.create(gpu, false);
    DeviceMemory idle = allocate(KIB, stream);
    DeviceMemory used = allocate(KIB, stream);
    idle.free();
    stream.close();
    used.free();
    assertThat(gpu.memoryAllocated()).isZero();
    assertThat(gpu.memoryReserved()).isEqualTo(2 * KIB);
    cuda.streams().giveNext(stream.handle());
    CudaStream next = CudaStream.create(gpu, false);
    DeviceMemory other = allocate(KIB, next);
    assertThat(other.address()).isNotIn(idle.address(), used.address());
    next.close();
    gpu.emptyCache();
    assertThat(gpu.memoryReserved()).isEqualTo(KIB);
    other.free();
  }

  @Test
  void sizesAreRoundedAndLittleIsWasted() {
    assertThat(DeviceAllocator.blockSize(1)).isEqualTo(512);
    assertThat(DeviceAllocator.blockSize(512)).isEqualTo(512);
    assertThat(DeviceAllocator.blockSize(MIB)).isEqualTo(MIB);
    assertThat(DeviceAllocator.blockSize(MIB + 1)).isEqualTo(2 * MIB);
    assertThat(DeviceAllocator.blockSize(5 * MIB)).isEqualTo(6 * MIB);
    assertThat(DeviceAllocator.blockSize(Long.MAX_VALUE)).isPositive();
    DeviceMemory large = allocate(10 * KIB);
    DeviceMemory small = allocate(9 * KIB);
    large.free();
    small.free();
    // The smaller block is large enough for both, the larger one too large for the second.
    assertThat(allocate(8 * KIB).address()).isEqualTo(small.address());
    assertThat(allocate(7 * KIB).address()).isNotEqualTo(large.address());
  }

  @Test
  void neitherFreeingNorAllocatingAgainWaitsForTheGpu() {
    CountDownLatch busy = cuda.streams().pause(enter());
    DeviceMemory memory = allocate(KIB);
    memory.free();
    DeviceMemory again = allocate(KIB);
    assertThat(again.address()).isEqualTo(memory.address());
    again.free();
    busy.countDown();
  }

  /** Makes the device current on the thread, and returns its default stream. */
  private long enter() {
    gpu.enter();
    return Cuda.DEFAULT_STREAM;
  }

  @Test
  void aUseKeepsMemoryThatIsFreed() {
    DeviceMemory memory = allocate(KIB);
    MemoryUse use = memory.use();
    memory.free();
    assertThat(gpu.memoryAllocated()).isEqualTo(KIB);
    DeviceMemory other = allocate(KIB);
    assertThat(other.address()).isNotEqualTo(memory.address());
    use.close();
    use.close();
    assertThat(allocate(KIB).address()).isEqualTo(memory.address());
    other.free();
    assertThatThrownBy(memory::use)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("after it was freed");
    DeviceMemory live = allocate(KIB);
    assertThatThrownBy(() -> MemoryUse.of(List.of(live, memory)))
        .isInstanceOf(IllegalStateException.class);
    live.free();
    assertThat(allocate(KIB).address()).isEqualTo(live.address());
  }

  @Test
  void whatTheGpuMayStillUseIsFreedAfterTheGpuHasComeToAnEndAndNotUsedAgain() {
    DeviceMemory memory = allocate(KIB);
    MemoryUse failed = memory.use();
    failed.abandon();
    memory.free();
    DeviceMemory other = allocate(KIB);
    assertThat(other.address()).isNotEqualTo(memory.address());
    other.free();
    assertThat(gpu.memoryReserved()).isEqualTo(2 * KIB);
  }

  @Test
  void idleMemoryIsFreedWhereTheGpuHasNoMore() {
    cuda.memory().limit(3 * MIB);
    DeviceMemory inUse = allocate(MIB);
    DeviceMemory idle = allocate(MIB);
    DeviceMemory alsoIdle = allocate(MIB / 2);
    idle.free();
    alsoIdle.free();
    DeviceMemory large = allocate(2 * MIB);
    assertThat(gpu.memoryAllocated()).isEqualTo(3 * MIB);
    assertThat(gpu.memoryReserved()).isEqualTo(3 * MIB);
    inUse.free();
    large.free();
  }

  @Test
  void theErrorOfAFullGpuSaysWhoHoldsTheMemory() {
    cuda.memory().limit(3 * MIB);
    DeviceMemory inUse = allocate(2 * MIB);
    DeviceMemory idle = allocate(KIB);
    idle.free();
    assertThatThrownBy(() -> allocate(2 * MIB - 1))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("cuda:0 has no memory for 2097151 bytes")
        .hasMessageContaining("of its 3145728 bytes 1048576 are free")
        .hasMessageContaining("tensors of this process have 2097152, and 0 are kept");
    inUse.free();
    allocate(2 * MIB - 1).free();
  }

  @Test
  void unreachableTensorsAreFreedWhenTheGpuIsFull() {
    cuda.memory().limit(3 * MIB);
    for (int i = 0; i < 20; i++) {
      // Nobody frees the memory, and nobody calls the garbage collector.
      assertThat(allocate(2 * MIB).address()).isPositive();
    }
    assertThat(gpu.memoryReserved()).isLessThanOrEqualTo(3 * MIB);
    awaitCollection();
  }

  private void awaitCollection() {
    Eventually.holdsAfterCollection(
        () -> gpu.memoryAllocated() == 0, () -> gpu.memoryAllocated() + " bytes are in use");
  }

  @Test
  void unreachableMemoryIsReusedInItsStream() {
    long dropped = allocate(KIB).address();
    awaitCollection();
    assertThat(gpu.memoryReserved()).isEqualTo(KIB);
    DeviceMemory again = allocate(KIB);
    assertThat(again.address()).isEqualTo(dropped);
    again.free();
  }

  @Test
  void memoryOutlivesTheDevicesThatAreOpen() {
    DeviceMemory memory = allocate(KIB);
    gpu.close();
    assertThat(cuda.memory().bytes(memory.address(), KIB).capacity()).isEqualTo(KIB);
    assertThat(cuda.leaks()).contains("context of 0");
    try (CudaDevice again = CudaDevice.open(cuda, 0)) {
      assertThat(again.memoryAllocated()).isEqualTo(KIB);
    }
    memory.free();
    cuda.awaitNothingLeft();
  }

  @Test
  void nothingIsAllocatedOnAGpuThatWasClosed() {
    gpu.close();
    assertThatThrownBy(() -> allocate(KIB))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cuda:0 was closed");
  }

  @Test
  void theLastToGoDoesNotKeepOthersFromBeginningAnew() {
    long stream = enter();
    DeviceMemory memory = allocate(KIB);
    CountDownLatch busy = cuda.streams().pause(stream);
    gpu.close();
    // The last hold ends; kept memory is freed once the GPU has finished, and not here.
    memory.free();
    try (CudaDevice again = CudaDevice.open(cuda, 0)) {
      DeviceMemory other = DeviceMemory.allocate(again, KIB);
      assertThat(other.address()).isNotEqualTo(memory.address());
      assertThat(cuda.leaks()).contains("memory of " + KIB + " memory of " + KIB);
      other.free();
      busy.countDown();
    }
  }

  @Test
  void aGpuThatHangsDoesNotKeepWhoClosesIt() {
    allocate(KIB).free();
    CountDownLatch busy = cuda.streams().pause(enter());
    gpu.close();
    assertThat(cuda.leaks()).contains("memory of " + KIB, "context of 0");
    busy.countDown();
  }

  @Test
  void memoryStaysWhileADestroyedStreamStillUsesIt() {
    enter();
    DeviceMemory memory = allocate(KIB);
    long address = memory.address();
    long stream = cuda.createStream(0);
    CountDownLatch busy = cuda.streams().pause(stream);
    cuda.fill(address, (byte) 1, KIB, stream);
    cuda.destroyStream(stream);
    memory.free();
    gpu.close();
    cuda.streams().awaitSynchronizing();
    assertThat(cuda.leaks()).contains("memory of " + KIB);
    busy.countDown();
  }

  @Test
  void memoryThatWentWithItsContextIsNotFreedWhereAnotherIsNow() {
    DeviceMemory old = allocate(KIB);
    old.free();
    // A reset of the GPU does the same.
    enter();
    cuda.free(old.address());
    cuda.memory().allocateNextAt(old.address());
    long other = cuda.allocate(KIB);
    assertThat(other).isEqualTo(old.address());
    gpu.emptyCache();
    assertThat(cuda.memory().bytes(other, KIB).capacity()).isEqualTo(KIB);
    cuda.free(other);
  }

  @Test
  void memoryOfNoBytesHasNoAddress() {
    DeviceMemory nothing = allocate(0);
    assertThat(nothing.address()).isZero();
    nothing.use().close();
    nothing.free();
    assertThat(gpu.memoryReserved()).isZero();
  }
}
