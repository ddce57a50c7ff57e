package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.DType;

/**
 * Tests that no rank leaves a barrier before all have come. Ranks are counted in the group's store.
 */
class BarrierConformanceTest extends OperationConformanceTest {

  private static final String ARRIVED = "arrived";

  @Override
  public boolean reduces() {
    return false;
  }

  /**
   * Returns cases in which the sizes only stand for repetitions, because a barrier has no tensor.
   */
  @Override
  public List<ConformanceCase> cases() {
    return ConformanceCase.WORLDS.stream()
        .flatMap(
            world ->
                Arrays.stream(CaseSize.values())
                    .map(
                        size ->
                            new ConformanceCase(DType.BOOL, null, world, size, Memory.HEAP, false)))
        .toList();
  }

  @Override
  public void check(CaseRun run) {
    long before = run.group().store().add(ARRIVED, 0);
    run.group().barrier().await();
    assertThat(before % run.world()).isZero();
    for (int round = 1; round <= 10; round++) {
      run.group().store().add(ARRIVED, 1);
      run.group().barrier().await();
      assertThat(run.group().store().add(ARRIVED, 0))
          .isGreaterThanOrEqualTo(before + (long) round * run.world());
    }
    run.group().barrier().await();
  }
}
