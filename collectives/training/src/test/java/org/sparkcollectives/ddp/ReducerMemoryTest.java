package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests that many steps take no more memory than few. */
@Tag("full")
@ExtendWith(LeakCheck.class)
class ReducerMemoryTest {

  private static final int STEPS = 100_000;
  private static final long MOST_GROWTH = 4 << 20;

  @Test
  void manyStepsTakeNoMoreMemoryThanFew() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          TestModel model = TestModel.of(3, 40, 500);
          ReducerOptions options =
              ReducerOptions.defaults().withBucketBytes(200).withFindUnused(true);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), options)) {
            long before = 0;
            for (int step = 0; step < STEPS; step++) {
              if (step == STEPS / 10) {
                before = bytes();
              }
              reducer.beginForward();
              reducer.beginBackward();
              reducer.markReady(2);
              reducer.markReady(step % 2);
              reducer.finish();
            }
            assertThat(bytes() - before).isLessThan(MOST_GROWTH);
          }
          return null;
        });
  }

  /** Returns the memory in use in the heap, once it is collected, and in direct buffers. */
  private static long bytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
        + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
  }
}
