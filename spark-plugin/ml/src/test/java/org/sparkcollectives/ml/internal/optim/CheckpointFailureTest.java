package org.sparkcollectives.ml.internal.optim;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.Vectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ml.internal.gradient.LogisticProblem;
import org.sparkcollectives.ml.internal.rows.Labels;
import org.sparkcollectives.ml.internal.rows.RankRows;
import org.sparkcollectives.ml.testing.Warnings;
import org.sparkcollectives.store.HashStore;

/** Tests fits of ranks that are threads, whose store of checkpoints refuses. */
class CheckpointFailureTest {

  private static final int RANKS = 2;
  private static final long MUCH = 1 << 20;
  private static final Duration NEVER = Duration.ofDays(1);

  @ParameterizedTest
  @ValueSource(strings = {"checkpoint", "checkpointReplicated", "restore"})
  void aFitGoesOnAfterOneLineInTheLog(String refused) throws Exception {
    Solution expected = fit("none", NEVER);
    try (Warnings log = new Warnings()) {
      Solution found = fit(refused, Duration.ZERO);

      assertThat(log.texts())
          .singleElement()
          .asString()
          .startsWith("A checkpoint of the fit could not be");
      assertThat(found.coefficients()).containsExactly(expected.coefficients());
      assertThat(found.objectiveHistory()).containsExactly(expected.objectiveHistory());
    }
  }

  @Test
  void checkpointsThatAreKeptAreNotInTheLog() throws Exception {
    try (Warnings log = new Warnings()) {
      fit("none", Duration.ZERO);
      assertThat(log.texts()).isEmpty();
    }
  }

  private static Solution fit(String refused, Duration interval) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(RANKS);
    try (HashStore store = new HashStore()) {
      List<Callable<Optional<Solution>>> calls = new ArrayList<>();
      for (int rank = 0; rank < RANKS; rank++) {
        int own = rank;
        calls.add(
            () -> {
              try (ProcessGroup world =
                  ProcessGroups.create(store, own, RANKS, GroupOptions.defaults())) {
                return fit(refusing(world, refused), interval);
              }
            });
      }
      List<Future<Optional<Solution>>> solutions = threads.invokeAll(calls);
      assertThat(solutions.get(1).get()).isEmpty();
      return solutions.get(0).get().orElseThrow();
    } finally {
      threads.shutdownNow();
    }
  }

  private static Optional<Solution> fit(ProcessGroup world, Duration interval) {
    LogisticProblem problem =
        new LogisticProblem(new LogisticRegression().setMaxIter(6), 0, Optional.empty());
    RankRows rows = RankRows.read(world, rows(world.rank()).iterator(), Labels.CLASSES, MUCH, MUCH);
    rows.own().scale(rows.statistics().inverseStd());
    Objective objective = problem.objective(rows.statistics()).orElseThrow();
    return new Minimization(world, rows.own().blocks(), objective, interval).run();
  }

  private static List<Instance> rows(int rank) {
    Random random = new Random(rank);
    List<Instance> rows = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      double x = random.nextGaussian();
      double label = x + random.nextGaussian() > 0 ? 1 : 0;
      rows.add(new Instance(label, 1, Vectors.dense(x, random.nextDouble())));
    }
    return rows;
  }

  /** Returns {@code world}, one of whose methods throws as it does where the store refuses. */
  private static ProcessGroup refusing(ProcessGroup world, String refused) {
    return (ProcessGroup)
        Proxy.newProxyInstance(
            ProcessGroup.class.getClassLoader(),
            new Class<?>[] {ProcessGroup.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals(refused)) {
                throw new CollectiveException("The store has no room");
              }
              try {
                return method.invoke(world, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
