package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests the statistics, with a clock that only the test moves. */
@ExtendWith(LeakCheck.class)
class ReducerStatisticsTest {

  private static final ReducerOptions OPTIONS =
      ReducerOptions.defaults().withBucketBytes(12).withRebuild(false);

  @Test
  void theTimesOfAStepAreThoseOfTheClock() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          AtomicLong clock = new AtomicLong(1000);
          TestModel model = TestModel.of(3, 4, 5);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), OPTIONS, clock::get)) {
            assertThat(reducer.statistics().sampledStep()).isZero();
            step(reducer, clock, 100);
            assertThat(reducer.statistics().last())
                // The first bucket begins at the first mark, at 10 of 100.
                .isEqualTo(new ReducerStatistics.Times(5, 110, 101, 100));
            step(reducer, clock, 200);
            ReducerStatistics statistics = reducer.statistics();
            assertThat(statistics.last()).isEqualTo(new ReducerStatistics.Times(5, 210, 201, 200));
            assertThat(statistics.mean()).isEqualTo(new ReducerStatistics.Times(5, 160, 151, 150));
            assertThat(statistics.steps()).isEqualTo(2);
            assertThat(statistics.readyOrder()).containsExactly(2, 1, 0);
            assertThat(statistics.bucketBytes()).containsExactly(20L, 16L, 12L);
            assertThat(statistics.bucketParameters())
                .containsExactly(List.of(2), List.of(1), List.of(0));
            assertThat(statistics.rebuilt()).isFalse();
            assertThat(statistics.error()).isEmpty();
          }
          return null;
        });
  }

  private static void step(GradientReducer reducer, AtomicLong clock, long slow) {
    reducer.beginForward();
    clock.addAndGet(5);
    reducer.beginBackward();
    clock.addAndGet(10);
    reducer.markReady(2);
    clock.addAndGet(slow);
    reducer.markReady(1);
    reducer.markReady(0);
    clock.addAndGet(1);
    reducer.finish();
  }

  @Test
  void theFirstTenStepsAndThenEachHundredthAreSampled() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          TestModel model = TestModel.of(3);
          List<Long> sampled = new ArrayList<>();
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), OPTIONS)) {
            for (int i = 0; i < 205; i++) {
              long before = reducer.statistics().sampledStep();
              if (i == 3) {
                NoSync pause = reducer.noSync();
                model.step(reducer, 1);
                pause.close();
              }
              model.step(reducer, 1);
              if (reducer.statistics().sampledStep() != before) {
                sampled.add(reducer.statistics().sampledStep());
              }
            }
            assertThat(sampled)
                .containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 100L, 200L);
            assertThat(reducer.statistics().steps()).isEqualTo(205);
          }
          return null;
        });
  }

  @Test
  void aStepThatFailedLeavesItsReason() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          TestModel model = TestModel.of(3);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), ReducerOptions.defaults())) {
            reducer.beginBackward();
            assertThatThrownBy(reducer::finish).isInstanceOf(IllegalStateException.class);
            assertThat(reducer.statistics().error()).contains("did not mark parameter 0");
            assertThat(reducer.statistics().steps()).isZero();
            model.step(reducer, 1);
            model.step(reducer, 1);
            assertThat(reducer.statistics().rebuilt()).isTrue();
          }
          return null;
        });
  }
}
