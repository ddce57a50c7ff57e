package org.sparkcollectives.ml.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Random;
import org.sparkcollectives.spark.IterativeStage;
import org.sparkcollectives.spark.iteration.Contribution;
import org.sparkcollectives.spark.iteration.IterationResult;
import org.sparkcollectives.spark.iteration.StateUpdate;

/** Ends iterations after any of them, and asserts that they go on to the same bits. */
public final class ResumedIterations {

  private ResumedIterations() {}

  /**
   * Runs {@code stage} twice with a checkpoint after each iteration: once to its end, and once with
   * a rank that fails in an iteration that is drawn.
   */
  public static <T, D> void assertSameBits(
      IterativeStage<T, double[], D> stage,
      int iterations,
      Contribution<double[], D> contribution,
      StateUpdate<double[]> update,
      Path directory) {
    IterativeStage<T, double[], D> kept = stage.withCheckpointInterval(1).withStageRetry();
    IterationResult<double[]> expected = kept.run(iterations, contribution, update);
    assertThat(expected.iterations()).isGreaterThan(2);
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Path ended = directory.resolve("ended");
    StageEnd end =
        new StageEnd(
            random.nextInt(LocalCluster.SLOTS),
            2 + random.nextInt(expected.iterations() - 1),
            ended);

    IterationResult<double[]> found =
        kept.run(
            iterations,
            (state, rows, iteration) -> {
              end.beforeStep();
              return contribution.compute(state, rows, iteration);
            },
            update);

    assertThat(ended).exists();
    assertThat(found.state()).as("seed " + seed).containsExactly(expected.state());
    assertThat(found.losses()).containsExactly(expected.losses());
    assertThat(found.iterations()).isEqualTo(expected.iterations());
    assertThat(found.converged()).isEqualTo(expected.converged());
  }
}
