package org.sparkcollectives.ml.internal.gradient;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.TaskContext;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.util.DatasetUtils$;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.ml.internal.optim.Objective;
import org.sparkcollectives.ml.internal.optim.Solution;
import org.sparkcollectives.ml.internal.rows.InstanceRows;
import org.sparkcollectives.ml.internal.rows.Labels;
import org.sparkcollectives.ml.internal.rows.Statistics;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;
import scala.Option;

/** Kills the process of an executor in the middle of a fit. */
@ExtendWith(LocalCluster.class)
class ExecutorLossTest {

  private static final int FATAL_EVALUATION = 7;

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void theFitGoesOnToTheSameBits(int victim, SparkSession spark, @TempDir Path directory) {
    Path none = directory.resolve("none");
    Path killed = directory.resolve("killed");
    spark.conf().set(GradientFit.CHECKPOINT_INTERVAL, "0s");
    try {
      Solution expected = fit(spark, new Killing(logistic(), -1, none.toString()));
      Solution found = fit(spark, new Killing(logistic(), victim, killed.toString()));

      assertThat(killed).exists();
      assertThat(found.continuedFrom()).isPositive();
      assertThat(found.objectiveHistory()).containsExactly(expected.objectiveHistory());
      assertThat(found.coefficients()).containsExactly(expected.coefficients());
    } finally {
      spark.conf().unset(GradientFit.CHECKPOINT_INTERVAL);
    }
  }

  private static LogisticProblem logistic() {
    return new LogisticProblem(
        new LogisticRegression().setMaxIter(12).setRegParam(0.01).setElasticNetParam(0.1),
        0,
        Optional.empty());
  }

  private static Solution fit(SparkSession spark, Problem problem) {
    Dataset<Row> rows = GeneratedRows.of(spark, 120);
    Dataset<Row> columns =
        InstanceRows.select(
            rows,
            DatasetUtils$.MODULE$.checkClassificationLabels("binary", Option.empty()),
            Option.empty(),
            "features");
    return new GradientFit("test", rows).run(columns, problem, 0).orElseThrow().solution();
  }

  /** Ends the process of one rank before an evaluation, once. */
  private static final class Killing implements Problem {

    private static final long serialVersionUID = 1;

    private final LogisticProblem problem;
    private final int victim;
    private final String marker;

    Killing(LogisticProblem problem, int victim, String marker) {
      this.problem = problem;
      this.victim = victim;
      this.marker = marker;
    }

    @Override
    public Labels labels() {
      return problem.labels();
    }

    @Override
    public Optional<Objective> objective(Statistics statistics) {
      AtomicInteger evaluations = new AtomicInteger();
      return problem
          .objective(statistics)
          .map(
              objective ->
                  new Objective(
                      at -> {
                        if (evaluations.incrementAndGet() == FATAL_EVALUATION
                            && TaskContext.getPartitionId() == victim) {
                          killOnce();
                        }
                        return objective.aggregator().apply(at);
                      },
                      objective.regularization(),
                      objective.minimizer(),
                      objective.start()));
    }

    private void killOnce() {
      Path file = Path.of(marker);
      if (Files.exists(file)) {
        return;
      }
      try {
        Files.createFile(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Runtime.getRuntime().halt(137);
    }
  }
}
