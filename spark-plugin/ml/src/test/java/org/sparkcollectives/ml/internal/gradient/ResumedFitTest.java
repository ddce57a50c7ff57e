package org.sparkcollectives.ml.internal.gradient;

import static org.apache.spark.sql.functions.col;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.spark.ml.classification.LinearSVC;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.linalg.Matrices;
import org.apache.spark.ml.regression.AFTSurvivalRegression;
import org.apache.spark.ml.regression.LinearRegression;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.ml.internal.optim.Objective;
import org.sparkcollectives.ml.internal.optim.Solution;
import org.sparkcollectives.ml.internal.rows.InstanceRows;
import org.sparkcollectives.ml.internal.rows.Labels;
import org.sparkcollectives.ml.internal.rows.Statistics;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;
import org.sparkcollectives.ml.testing.StageEnd;
import org.sparkcollectives.spark.BarrierStage;

/** Keeps a checkpoint after each iteration of each minimizer, and goes on from one of them. */
@ExtendWith(LocalCluster.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ResumedFitTest {

  private static final int ITERATIONS = 12;
  private static final long BLOCK_BYTES = 1 << 20;

  private final Dataset<Row> rows;

  ResumedFitTest(SparkSession spark) {
    rows = GeneratedRows.of(spark, 120).cache();
  }

  private record Case(String name, Problem problem, String label, String weightOrCensor) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> problems() {
    return Stream.of(
        logistic("two classes", "binary", new LogisticRegression()),
        logistic(
            "two classes, elastic net",
            "binary",
            new LogisticRegression().setRegParam(0.01).setElasticNetParam(0.4)),
        logistic("three classes", "ternary", new LogisticRegression()),
        logistic(
            "two classes, bounds",
            "binary",
            new LogisticRegression()
                .setLowerBoundsOnCoefficients(Matrices.dense(1, 6, new double[6]))),
        new Case(
            "support vectors",
            new HingeProblem(new LinearSVC().setMaxIter(ITERATIONS).setTol(0), 0),
            "binary",
            "weight"),
        linear("least squares", new LinearRegression().setRegParam(0.1)),
        linear(
            "least squares, elastic net",
            new LinearRegression().setRegParam(0.1).setElasticNetParam(0.5)),
        linear("Huber", new LinearRegression().setLoss("huber").setRegParam(0.02)),
        new Case(
            "survival",
            new SurvivalProblem(new AFTSurvivalRegression().setMaxIter(ITERATIONS).setTol(0)),
            "time",
            "censor"));
  }

  private static Case logistic(String name, String label, LogisticRegression estimator) {
    estimator.setMaxIter(ITERATIONS).setTol(0);
    return new Case(name, new LogisticProblem(estimator, 0, Optional.empty()), label, "weight");
  }

  private static Case linear(String name, LinearRegression estimator) {
    estimator.setMaxIter(ITERATIONS).setTol(0);
    return new Case(name, new LinearProblem(estimator), "value", "weight");
  }

  @ParameterizedTest
  @MethodSource("problems")
  void aFitGoesOnToTheSameBits(Case fit, @TempDir Path directory) {
    Solution expected = run(fit, fit.problem());
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    int iterations = expected.objectiveHistory().length - 1;
    int early = iterations / 2 + 2;
    Path ended = directory.resolve("ended");
    StageEnd end =
        new StageEnd(
            random.nextInt(LocalCluster.SLOTS),
            early + random.nextInt(iterations - early + 1),
            ended);

    Solution found = run(fit, new Ending(fit.problem(), end));

    assertThat(ended).exists();
    assertThat(found.continuedFrom()).as("seed " + seed).isPositive();
    assertThat(found.objectiveHistory()).containsExactly(expected.objectiveHistory());
    assertThat(found.coefficients()).containsExactly(expected.coefficients());
  }

  private Solution run(Case fit, Problem problem) {
    byte[] result =
        BarrierStage.of(
                rows.select(col(fit.label()), col(fit.weightOrCensor()), col("features"))
                    .toJavaRDD()
                    .map(InstanceRows::decode))
            .withStageRetry()
            .collect(new RankFit(problem, BLOCK_BYTES, Duration.ZERO))
            .get(0);
    return JavaBytes.read(result, FitResult.class).solution();
  }

  /** Ends the stage before an evaluation. */
  private record Ending(Problem problem, StageEnd end) implements Problem {

    @Override
    public Labels labels() {
      return problem.labels();
    }

    @Override
    public Optional<Objective> objective(Statistics statistics) {
      return problem
          .objective(statistics)
          .map(
              objective ->
                  new Objective(
                      at -> {
                        end.beforeStep();
                        return objective.aggregator().apply(at);
                      },
                      objective.regularization(),
                      objective.minimizer(),
                      objective.start()));
    }
  }
}
