package org.sparkcollectives.spi.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Threads;

/** Tests memory that its last user frees. */
class LeasedMemoryTest {

  private final AtomicInteger freed = new AtomicInteger();
  private final LeasedMemory memory = new LeasedMemory(freed::incrementAndGet);

  @Test
  void memoryThatNobodyUsesIsFreedAtOnceAndOnce() {
    memory.acquire();
    memory.release();
    assertThat(freed).hasValue(0);
    memory.close();
    memory.close();
    assertThat(freed).hasValue(1);
  }

  @Test
  void memoryThatIsUsedIsFreedByTheLastToReleaseIt() {
    memory.acquire();
    memory.acquire();
    memory.close();
    assertThatThrownBy(memory::acquire)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("was closed");
    memory.release();
    assertThat(freed).hasValue(0);
    memory.release();
    assertThat(freed).hasValue(1);
    assertThatThrownBy(memory::acquire).isInstanceOf(IllegalStateException.class);
    assertThat(freed).hasValue(1);
  }

  @Test
  void nobodyUsesMemoryThatIsFreedWhileManyTry() throws Exception {
    for (int round = 0; round < 2000; round++) {
      AtomicBoolean there = new AtomicBoolean(true);
      AtomicInteger times = new AtomicInteger();
      LeasedMemory each =
          new LeasedMemory(
              () -> {
                there.set(false);
                times.incrementAndGet();
              });
      try (Threads threads = new Threads()) {
        threads.runTogether(
            3,
            number -> {
              if (number == 0) {
                each.close();
                return null;
              }
              try {
                each.acquire();
              } catch (IllegalStateException e) {
                return null;
              }
              assertThat(there).isTrue();
              each.release();
              return null;
            });
      }
      assertThat(times).hasValue(1);
    }
  }
}
