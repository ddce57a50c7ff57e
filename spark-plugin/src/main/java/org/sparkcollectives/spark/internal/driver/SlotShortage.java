package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;

/**
 * Explains why a barrier stage cannot run, and what to do about it.
 *
 * @param partitions of the stage
 * @param slots for its tasks, fewer than {@code partitions}
 * @param executors that have registered
 * @param asked how many executors the cluster manager was asked for; 0 if that is not known
 * @param master the cluster's URL
 * @param application its id
 * @param demand what one task needs, in words
 * @param taskCpus the cores that one task needs
 */
record SlotShortage(
    int partitions,
    int slots,
    int executors,
    int asked,
    String master,
    String application,
    String demand,
    int taskCpus) {

  /** Returns the message for the user, after {@code waited}. */
  String describe(Duration waited) {
    return "The barrier stage has "
        + partitions
        + " partitions, and each is a rank that needs a slot of its own at the same time; but after "
        + waited.toSeconds()
        + " s there are only "
        + slots
        + " slots: "
        + executors
        + (executors == 1 ? " executor" : " executors")
        + " ("
        + master
        + "), "
        + demand
        + ". "
        + advice();
  }

  private String advice() {
    String size =
        "the application " + cores() + " cores (spark.executor.instances x spark.executor.cores)";
    if (executors < asked) {
      return missingExecutors();
    }
    if (slots > 0) {
      return "Repartition to at most " + slots + ", or give " + size;
    }
    if (executors > 0) {
      return "No executor has what a single task needs: give each more (spark.executor.cores, or"
          + " what the RDD's resource profile asks for), or let a task need less; in all, give "
          + size;
    }
    return "No executor has registered: look up in the cluster manager what keeps them from"
        + " starting, or raise spark.collectives.preflight.timeout if they only take longer; the"
        + " ranks need "
        + cores()
        + " cores in all";
  }

  private String missingExecutors() {
    return "Only "
        + executors
        + " of the "
        + asked
        + " executors asked for (spark.executor.instances) "
        + (executors == 1 ? "has" : "have")
        + " registered: look up "
        + where()
        + " what keeps the others from starting, or raise spark.collectives.preflight.timeout if"
        + " they only take longer; the ranks need "
        + cores()
        + " cores in all";
  }

  private String where() {
    return master.startsWith("k8s://")
        ? "in their pods (kubectl describe pods -l spark-role=executor,spark-app-selector="
            + application
            + ")"
        : "in the cluster manager";
  }

  private long cores() {
    return (long) partitions * taskCpus;
  }
}
