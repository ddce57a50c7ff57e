package org.sparkcollectives.lightgbm.internal;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** LightGBM's parameters, checked, with those that the group decides. */
final class Parameters {

  private static final Set<String> LEARNER =
      Set.of("tree_learner", "tree", "tree_type", "tree_learner_type");
  private static final Set<String> THREADS =
      Set.of("num_threads", "num_thread", "nthread", "nthreads", "n_jobs");
  private static final Set<String> LINEAR_TREES = Set.of("linear_tree", "linear_trees");

  /** The values that LightGBM reads as true. */
  private static final Set<String> TRUE = Set.of("true", "1", "+");

  private static final Set<String> NETWORK =
      Set.of(
          "machines",
          "workers",
          "nodes",
          "machine_list_filename",
          "machine_list_file",
          "machine_list",
          "mlist",
          "local_listen_port",
          "local_port",
          "port",
          "num_machines",
          "num_machine");
  private static final Set<String> ROUNDS =
      Set.of(
          "num_iterations",
          "num_iteration",
          "n_iter",
          "num_tree",
          "num_trees",
          "num_round",
          "num_rounds",
          "nrounds",
          "num_boost_round",
          "n_estimators",
          "max_iter",
          "early_stopping_round",
          "early_stopping_rounds",
          "early_stopping",
          "n_iter_no_change");

  private Parameters() {}

  /**
   * Checks a user's parameters.
   *
   * @throws IllegalArgumentException if they have one that the group decides, or a learner that
   *     does not work over a group
   */
  static void check(Map<String, String> parameters) {
    parameters.forEach(
        (name, value) -> {
          if (NETWORK.contains(name)) {
            throw new IllegalArgumentException(
                "The parameter "
                    + name
                    + " is LightGBM's for sockets of its own; the ranks of the group are the"
                    + " machines, leave it out");
          }
          if (ROUNDS.contains(name)) {
            throw new IllegalArgumentException(
                "The parameter "
                    + name
                    + " is given by LightGbm.withRounds and LightGbm.withEarlyStopping");
          }
          if (LEARNER.contains(name)
              && !Set.of("data", "data_parallel", "voting", "voting_parallel")
                  .contains(value.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                "The learner "
                    + value
                    + " ("
                    + name
                    + ") does not divide the rows among ranks; the learners data and voting do");
          }
          if (name.isBlank() || name.contains(" ") || value.contains(" ")) {
            throw new IllegalArgumentException(
                "The parameter \"" + name + "\" or its value \"" + value + "\" has a space");
          }
        });
  }

  /**
   * Returns the text that LightGBM takes, for ranks of a group of {@code size}.
   *
   * @param sampled whether bins are made of a part of the rows only
   */
  static String text(Map<String, String> parameters, int size, int threads, boolean sampled) {
    requireTreesOfAllRanks(parameters, size);
    Map<String, String> all = new TreeMap<>();
    if (parameters.keySet().stream().noneMatch(LEARNER::contains)) {
      all.put("tree_learner", "data");
    }
    if (parameters.keySet().stream().noneMatch(THREADS::contains)) {
      all.put("num_threads", Integer.toString(threads));
    }
    if (sampled) {
      // LightGBM would drop the features that cannot part min_data_in_leaf rows of the sample.
      all.put("feature_pre_filter", "false");
    }
    all.putAll(parameters);
    // Without num_machines, LightGBM takes the serial learner, silently.
    all.put("num_machines", Integer.toString(size));
    all.put("pre_partition", "true");
    StringBuilder text = new StringBuilder();
    all.forEach((name, value) -> text.append(name).append('=').append(value).append(' '));
    return text.toString().strip();
  }

  /** LightGBM takes the serial learner for linear trees, with nothing but a warning. */
  private static void requireTreesOfAllRanks(Map<String, String> parameters, int size) {
    parameters.forEach(
        (name, value) -> {
          if (size > 1
              && LINEAR_TREES.contains(name)
              && TRUE.contains(value.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                "The parameter "
                    + name
                    + " is for one rank, and there are "
                    + size
                    + ": LightGBM would train a model of its own rows on each. Leave it out");
          }
        });
  }
}
