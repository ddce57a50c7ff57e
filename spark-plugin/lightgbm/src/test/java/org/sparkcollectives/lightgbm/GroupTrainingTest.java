package org.sparkcollectives.lightgbm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.testing.GroupRuns;

/** Training in the threads of one process, which are ranks of a group. */
class GroupTrainingTest {

  private static final int PIXELS = 64;
  private static final TrainingRows NONE = new TrainingRows(PIXELS);
  private static final GroupOptions OPTIONS =
      GroupOptions.defaults().withTimeout(Duration.ofSeconds(30));

  /** Parameters with which LightGBM gives the same bits every time. */
  private static Map<String, String> digits() {
    Map<String, String> parameters = new HashMap<>();
    parameters.put("objective", "multiclass");
    parameters.put("num_class", "10");
    parameters.put("min_data_in_leaf", "5");
    parameters.put("deterministic", "true");
    parameters.put("force_col_wise", "true");
    parameters.put("verbosity", "-1");
    parameters.put("seed", "7");
    return parameters;
  }

  private static RankTraining training(Map<String, String> parameters, int rounds, int patience) {
    return new RankTraining(parameters, rounds, patience, LibraryFile.path(), 1);
  }

  /** Returns the trees, without the parameters that follow them. */
  private static String trees(String model) {
    return model.split("\nparameters:", 2)[0];
  }

  @ParameterizedTest
  @CsvSource({"2, data", "4, data", "2, voting", "4, voting"})
  void theModelHasTheBitsOfThatOverLightGbmsSockets(int ranks, String learner) throws Exception {
    Map<String, String> parameters = digits();
    parameters.put("tree_learner", learner);
    RankTraining training = training(parameters, 5, 0);
    List<String> ours =
        GroupRuns.run(
            ranks, OPTIONS, group -> training.run(group, Digits.of(group.rank(), ranks), NONE));
    int[] ports = SocketTraining.ports(ranks);
    long[] counts = new long[ranks];
    for (int rank = 0; rank < ranks; rank++) {
      counts[rank] = Digits.of(rank, ranks).size();
    }
    List<String> sockets =
        GroupRuns.run(
            ranks, OPTIONS, group -> SocketTraining.run(group, ports, parameters, 5, counts));

    assertThat(ours).allMatch(model -> trees(model).equals(trees(ours.get(0))));
    assertThat(trees(ours.get(0))).isEqualTo(trees(sockets.get(0)));
  }

  @Test
  void threeRanksAgreeOnAModelThatKnowsTheDigits() {
    RankTraining training = training(digits(), 20, 0);
    List<String> models =
        GroupRuns.run(3, OPTIONS, group -> training.run(group, Digits.of(group.rank(), 3), NONE));

    assertThat(models).allMatch(model -> trees(model).equals(trees(models.get(0))));
    assertThat(accuracy(models.get(0))).isGreaterThan(0.97);
  }

  private static double accuracy(String model) {
    TrainingRows all = Digits.of(0, 1);
    int right = 0;
    try (var predictor = new LightGbmModel(model, LibraryFile.path()).predictor()) {
      for (int i = 0; i < all.size(); i++) {
        double[] row = Arrays.copyOfRange(all.features(), i * PIXELS, (i + 1) * PIXELS);
        double[] classes = predictor.predict(row);
        int most = 0;
        for (int c = 1; c < classes.length; c++) {
          most = classes[c] > classes[most] ? c : most;
        }
        right += most == all.labels()[i] ? 1 : 0;
      }
    }
    return (double) right / all.size();
  }

  @Test
  void allRanksStopAtTheSameIterationWhenTheMetricOfAllValidationRowsGetsWorse() {
    Map<String, String> parameters = digits();
    parameters.put("learning_rate", "0.5");
    RankTraining training = training(parameters, 200, 3);
    List<String> models =
        GroupRuns.run(
            2,
            OPTIONS,
            group ->
                training.run(
                    group, Digits.of(group.rank(), 4), group.rank() == 0 ? Digits.of(2, 4) : NONE));

    assertThat(trees(models.get(0))).isEqualTo(trees(models.get(1)));
    assertThat(models.get(0).split("\nTree=")).hasSizeBetween(10 * 3, 10 * 100);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 7, 20, 61})
  void aCollectiveThatFailsEndsTheTrainingOnAllRanksWithoutACrash(int call) {
    RankTraining training = training(digits(), 3, 0);
    assertThatThrownBy(
            () ->
                GroupRuns.run(
                    2,
                    OPTIONS,
                    group ->
                        training.run(
                            group.rank() == 0 ? failingAfter(call, group) : group,
                            Digits.of(group.rank(), 2),
                            NONE)))
        .hasStackTraceContaining("collective " + call + " fails");
    // The next user of LightGBM finds nothing of it.
    theNextTrainingWorks();
  }

  private static void theNextTrainingWorks() {
    RankTraining training = training(digits(), 1, 0);
    assertThat(
            GroupRuns.run(
                2, OPTIONS, group -> training.run(group, Digits.of(group.rank(), 2), NONE)))
        .hasSize(2);
  }

  /** Returns a group whose collective with a number, counted from those of lists, throws. */
  private static ProcessGroup failingAfter(int call, ProcessGroup group) {
    AtomicInteger calls = new AtomicInteger();
    return (ProcessGroup)
        Proxy.newProxyInstance(
            ProcessGroup.class.getClassLoader(),
            new Class<?>[] {ProcessGroup.class},
            (proxy, method, arguments) -> {
              if (arguments != null
                  && arguments[0] instanceof List
                  && calls.getAndIncrement() == call) {
                IllegalStateException failure =
                    new IllegalStateException("collective " + call + " fails");
                group.abort(failure);
                throw failure;
              }
              try {
                return method.invoke(group, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void aRankWithoutRowsIsNamedByAllRanks() {
    RankTraining training = training(digits(), 1, 0);
    List<String> errors =
        GroupRuns.run(
            2,
            OPTIONS,
            group -> {
              TrainingRows own = group.rank() == 0 ? Digits.of(0, 1) : NONE;
              return messageOf(() -> training.run(group, own, NONE));
            });

    assertThat(errors).allMatch(error -> error.contains("Rank 1 of 2 has no rows"));
  }

  @Test
  void aRankWithOneClassIsNamedByAllRanks() {
    TrainingRows sevens = new TrainingRows(PIXELS);
    sevens.add(new double[PIXELS], 7);
    sevens.add(new double[PIXELS], 7);
    RankTraining training = training(digits(), 1, 0);
    List<String> errors =
        GroupRuns.run(
            2,
            OPTIONS,
            group -> {
              TrainingRows own = group.rank() == 0 ? Digits.of(0, 1) : sevens;
              return messageOf(() -> training.run(group, own, NONE));
            });

    assertThat(errors).allMatch(error -> error.contains("Rank 1 of 2 has rows of one class only"));
  }

  private static String messageOf(Runnable body) {
    try {
      body.run();
    } catch (IllegalArgumentException e) {
      return e.getMessage();
    }
    return "nothing was thrown";
  }

  @ParameterizedTest
  @CsvSource({
    "machines, a:1",
    "local_listen_port, 12400",
    "num_machines, 2",
    "tree_learner, feature",
    "tree_learner, serial",
    "num_iterations, 10",
    "early_stopping_round, 5"
  })
  void aParameterOfTheGroupIsRefused(String name, String value) {
    assertThatThrownBy(() -> training(Map.of(name, value), 1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name);
  }

  @Test
  void aWrongParameterIsLightGbmsOwnError() {
    RankTraining training = training(Map.of("objective", "nonsense"), 1, 0);
    assertThatThrownBy(
            () -> GroupRuns.run(1, OPTIONS, group -> training.run(group, Digits.of(0, 1), NONE)))
        .hasRootCauseInstanceOf(LightGbmException.class)
        .hasMessageContaining("nonsense");
  }
}
