package org.sparkcollectives.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.RankThreads;

/**
 * Tests threads that allocate and free on several GPUs, with too little memory, in streams that
 * come and go.
 */
final class DeviceMemoryStressTest {

  private static final int GPUS = 2;
  private static final int THREADS = 6;
  private static final int STEPS = 1500;
  private static final int MOST_BYTES = 64 << 10;
  private static final long GPU_BYTES = 1 << 20;

  private final long seed = Long.getLong("stress.seed", System.nanoTime());
  private final FakeCuda cuda = new FakeCuda(GPUS);

  /**
   * The owner of each piece of memory, by its address: the fake returns no address twice, so an
   * address that appears again is reused memory.
   */
  private final Map<Long, Integer> owners = new ConcurrentHashMap<>();

  private final Map<Long, StreamKey> streams = new ConcurrentHashMap<>();

  @Test
  void nobodyGetsWhatAnotherHasNorWhatIsInAnotherStream() {
    cuda.memory().limit(GPU_BYTES);
    RankThreads.run(
        THREADS,
        thread -> {
          new Allocating(thread).run();
          return null;
        });
    Eventually.holdsAfterCollection(
        () -> cuda.leaks().isEmpty(), () -> "seed " + seed + " leaves" + cuda.leaks());
    assertThat(cuda.streams().errors()).as("seed %d", seed).isEmpty();
    cuda.close();
  }

  private final class Allocating {
    private final int thread;
    private final Random random;
    private final List<DeviceMemory> live = new ArrayList<>();
    private CudaDevice gpu;
    private CudaStream stream;

    Allocating(int thread) {
      this.thread = thread;
      this.random = new Random(seed + thread);
    }

    void run() {
      for (int round = 0; round < 3; round++) {
        // The device is opened and closed, with the memory kept on it if nobody else holds it.
        gpu = CudaDevice.open(cuda, (thread + round) % GPUS);
        stream = CudaStream.create(gpu, false);
        for (int step = 0; step < STEPS / 3; step++) {
          step();
        }
        boolean early = random.nextBoolean();
        if (early) {
          stream.close();
          gpu.close();
        }
        live.forEach(this::free);
        live.clear();
        stream.close();
        gpu.close();
      }
    }

    private void step() {
      int what = random.nextInt(100);
      if (what < 50 && live.size() < 9) {
        allocate();
      } else if (what < 85) {
        freeOne();
      } else if (what < 95) {
        useOne();
      } else if (what < 98) {
        stream.close();
        stream = CudaStream.create(gpu, false);
      } else if (what == 98) {
        drop();
      } else {
        gpu.emptyCache();
      }
    }

    private void allocate() {
      boolean own = random.nextBoolean();
      CudaStream current = own ? stream : CudaStream.defaultOf(gpu);
      try (CudaStream.Use use = current.use()) {
        assertThat(use).isNotNull();
        DeviceMemory memory = DeviceMemory.allocate(gpu, 1 + random.nextInt(MOST_BYTES));
        Integer other = owners.put(memory.address(), thread);
        assertThat(other).as("seed %d: the owner of what is allocated", seed).isNull();
        StreamKey key = own ? stream.key() : StreamKey.DEFAULT;
        StreamKey before = streams.put(memory.address(), key);
        if (before != null) {
          assertThat(before).as("seed %d: the stream of what is used again", seed).isEqualTo(key);
        }
        live.add(memory);
      } catch (CudaException e) {
        assertThat(e.isOutOfMemory()).as("seed %d: %s", seed, e).isTrue();
        live.forEach(this::free);
        live.clear();
      }
    }

    private void free(DeviceMemory memory) {
      assertThat(owners.remove(memory.address(), thread)).isTrue();
      memory.free();
    }

    private DeviceMemory takeOne() {
      return live.isEmpty() ? null : live.remove(random.nextInt(live.size()));
    }

    private void freeOne() {
      DeviceMemory memory = takeOne();
      if (memory != null) {
        free(memory);
      }
    }

    private void useOne() {
      DeviceMemory memory = takeOne();
      if (memory != null) {
        MemoryUse use = memory.use();
        memory.free();
        // It still belongs to this thread.
        assertThat(owners.remove(memory.address(), thread)).isTrue();
        if (random.nextBoolean()) {
          use.close();
        } else {
          use.abandon();
        }
      }
    }

    private void drop() {
      DeviceMemory memory = takeOne();
      if (memory != null) {
        owners.remove(memory.address(), thread);
      }
    }
  }
}
