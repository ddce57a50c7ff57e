package org.sparkcollectives.lightgbm;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** LightGBM's parameters, checked, with those that the group decides. */
final class Parameters {

  private static final Set<String> LEARNER =
      Set.of("tree_learner", "tree", "tree_type", "tree_learner_type");

  /** The values that LightGBM reads as true. */
  private static final Set<String> TRUE = Set.of("true", "1", "+");

  private static final Set<String> OBJECTIVE =
      Set.of("objective", "objective_type", "app", "application", "loss");
  private static final Set<String> CLASSIFIERS =
      Set.of("binary", "multiclass", "softmax", "multiclassova", "multiclass_ova", "ova", "ovr");

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
   * Checks a user's parameters as far as that needs no library.
   *
   * @throws IllegalArgumentException if they have one that the group decides, or a learner that
   *     does not work over a group
   */
  static void check(Map<String, String> parameters) {
    parameters.forEach(
        (name, value) -> {
          if (value == null) {
            throw new IllegalArgumentException("The parameter " + name + " has no value (null)");
          }
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
          if (name.isBlank() || breaksTheText(name) || breaksTheText(value)) {
            throw new IllegalArgumentException(
                "The parameter \""
                    + name
                    + "\" or its value \""
                    + value
                    + "\" has white space or a =, which LightGBM cannot read");
          }
        });
  }

  private static boolean breaksTheText(String word) {
    return word.chars().anyMatch(each -> each == '=' || Character.isWhitespace(each));
  }

  /**
   * Returns the text that LightGBM takes, for ranks of a group of {@code size}.
   *
   * @param parameters by LightGBM's own names
   * @param sampled whether bins are made of a part of the rows only
   */
  static String text(Map<String, String> parameters, int size, int threads, boolean sampled) {
    if (size > 1) {
      requireTreesOfAllRanks(parameters, size);
    }
    Map<String, String> all = new TreeMap<>();
    all.put("tree_learner", "data");
    all.put("num_threads", Integer.toString(threads));
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

  private static final List<String> COSTS_OF_FEATURES =
      List.of("cegb_penalty_feature_coupled", "cegb_penalty_feature_lazy");

  private static void requireTreesOfAllRanks(Map<String, String> parameters, int size) {
    if (TRUE.contains(lower(parameters, "linear_tree"))) {
      throw forOneRank("linear_tree", size, "LightGBM would train a model of its own rows on each");
    }
    if (!parameters.getOrDefault("interaction_constraints", "").isEmpty()) {
      throw forOneRank(
          "interaction_constraints", size, "LightGBM's learners for several machines fail with it");
    }
    for (String name : COSTS_OF_FEATURES) {
      if (!parameters.getOrDefault(name, "").isEmpty()) {
        throw forOneRank(
            name, size, "LightGBM counts the penalties of features in one process only");
      }
    }
  }

  private static IllegalArgumentException forOneRank(String name, int size, String why) {
    return new IllegalArgumentException(
        "The parameter "
            + name
            + " is for one rank, and there are "
            + size
            + ": "
            + why
            + ". Leave it out, or train with one rank");
  }

  /** Returns whether the objective's labels are classes, by whichever of its names it is given. */
  static boolean classifies(Map<String, String> parameters) {
    return OBJECTIVE.stream().anyMatch(name -> CLASSIFIERS.contains(lower(parameters, name)));
  }

  /**
   * Returns how many classes the labels number, from 0.
   *
   * @param parameters by LightGBM's own names
   * @return 0 if labels are no classes
   */
  static int classes(Map<String, String> parameters) {
    if (!classifies(parameters)) {
      return 0;
    }
    // If the number of classes is missing, LightGBM says so.
    return lower(parameters, "objective").equals("binary")
        ? 2
        : (int) number(parameters, "num_class", Integer.MAX_VALUE);
  }

  private static String lower(Map<String, String> parameters, String name) {
    return parameters.getOrDefault(name, "").toLowerCase(Locale.ROOT);
  }

  /**
   * Returns a parameter that is a whole number.
   *
   * @param parameters by LightGBM's own names
   */
  static long number(Map<String, String> parameters, String name, long otherwise) {
    String text = parameters.get(name);
    try {
      return text == null ? otherwise : Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "The parameter " + name + " is " + text + ", which is no whole number", e);
    }
  }
}
