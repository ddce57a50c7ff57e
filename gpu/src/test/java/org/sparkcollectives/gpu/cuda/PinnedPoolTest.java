package org.sparkcollectives.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.gpu.testing.FakeCuda;

final class PinnedPoolTest {

  private final FakeCuda cuda = new FakeCuda(2);
  private CudaDevice gpu;

  @BeforeEach
  void open() {
    gpu = CudaDevice.open(cuda, 0);
  }

  @AfterEach
  void nothingIsLeft() {
    gpu.close();
    cuda.awaitNothingLeft();
    cuda.close();
  }

  @Test
  void groupsOnOneGpuShareBuffersOfAboutOneSize() {
    PinnedBuffer first = gpu.pinnedPool().take(5000);
    assertThat(first.size()).isEqualTo(8192);
    gpu.pinnedPool().giveBack(first);
    try (CudaDevice same = CudaDevice.open(cuda, 0);
        CudaDevice other = CudaDevice.open(cuda, 1)) {
      PinnedBuffer elsewhere = other.pinnedPool().take(8000);
      PinnedBuffer second = same.pinnedPool().take(8000);
      PinnedBuffer third = same.pinnedPool().take(8000);
      assertThat(second.address()).isEqualTo(first.address());
      assertThat(third.address()).isNotEqualTo(first.address());
      assertThat(elsewhere.address()).isNotEqualTo(first.address());
      same.pinnedPool().giveBack(second);
      same.pinnedPool().giveBack(third);
      other.pinnedPool().giveBack(elsewhere);
    }
  }

  /** Runs with a pool that keeps 64 KiB, or as much as was in use at once. */
  private void withSmallPool(Consumer<PinnedPool> test) {
    SharedDevice shared = SharedDevice.of(cuda, 0);
    PinnedPool pool = new PinnedPool(shared.context(), 64 << 10);
    try {
      test.accept(pool);
    } finally {
      pool.freeIdle();
      shared.context().releaseInBackground();
    }
  }

  private static long use(PinnedPool pool, int bytes) {
    PinnedBuffer buffer = pool.take(bytes);
    pool.giveBack(buffer);
    return buffer.address();
  }

  @Test
  void aLargeBufferIsKeptAlsoBesideSmallerOnes() {
    withSmallPool(
        pool -> {
          use(pool, 16 << 10);
          long large = use(pool, 256 << 10);
          assertThat(use(pool, 256 << 10)).isEqualTo(large);
        });
  }

  @Test
  void asMuchIsKeptAsWasInUseAtOnce() {
    withSmallPool(
        pool -> {
          PinnedBuffer first = pool.take(256 << 10);
          PinnedBuffer second = pool.take(128 << 10);
          pool.giveBack(first);
          pool.giveBack(second);
          assertThat(use(pool, 256 << 10)).isEqualTo(first.address());
          assertThat(use(pool, 128 << 10)).isEqualTo(second.address());
        });
  }

  @Test
  void whatHasBeenUnusedForLongestIsFreedFirst() {
    withSmallPool(
        pool -> {
          use(pool, 128 << 10);
          long large = use(pool, 256 << 10);
          assertThat(cuda.hostBytes()).isEqualTo(256 << 10);
          assertThat(use(pool, 256 << 10)).isEqualTo(large);
        });
  }

  @Test
  void idleMemoryIsFreedWhereNoMoreCanBePinned() {
    cuda.memory().limitHost(256 << 10);
    withSmallPool(
        pool -> {
          use(pool, 128 << 10);
          PinnedBuffer whole = pool.take(256 << 10);
          assertThatThrownBy(() -> pool.take(4096))
              .isInstanceOf(CudaException.class)
              .hasMessageContaining("out of memory");
          pool.giveBack(whole);
        });
  }

  @Test
  void idleMemoryGoesBackToTheSystemWithTheCache() {
    use(gpu.pinnedPool(), 4096);
    assertThat(cuda.hostBytes()).isEqualTo(4096);
    gpu.emptyCache();
    assertThat(cuda.hostBytes()).isZero();
  }

  @Test
  void whoHasABufferKeepsTheContext() {
    PinnedBuffer buffer = gpu.pinnedPool().take(1);
    gpu.close();
    assertThat(cuda.leaks()).contains("host memory", "context of 0");
    buffer.buffer().putLong(0, 42);
    assertThat(buffer.buffer().getLong(0)).isEqualTo(42);
    gpu.pinnedPool().giveBack(buffer);
  }
}
