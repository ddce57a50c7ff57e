package org.sparkcollectives.spark.internal.driver;

/**
 * Explains that Spark refuses barrier stages with dynamic allocation, and what to set instead.
 *
 * @param ranks of the stage
 * @param taskCpus the cores that one rank needs
 * @param ranksOfExecutor how many ranks one executor can run, or 0 if the settings do not say how
 *     many cores it has
 * @param executorCores the cores of an executor, if {@code ranksOfExecutor} is not 0
 * @param standalone whether it is Spark's own cluster manager, which counts cores, not executors
 */
record DynamicAllocation(
    int ranks, int taskCpus, int ranksOfExecutor, int executorCores, boolean standalone) {

  /** Returns the message for the user. */
  String describe() {
    return "Spark does not run barrier stages with dynamic allocation, whatever its limits are"
        + " (SPARK-24942), and this one has "
        + ranks
        + (ranks == 1 ? " partition" : " partitions")
        + ", each of them a rank. Submit the application with --conf"
        + " spark.dynamicAllocation.enabled=false "
        + size();
  }

  private String size() {
    if (ranksOfExecutor == 0) {
      return "--conf spark.cores.max="
          + (long) ranks * taskCpus
          + " (a rank needs "
          + cores(taskCpus)
          + ")";
    }
    int executors = (ranks + ranksOfExecutor - 1) / ranksOfExecutor;
    String each =
        " (an executor of "
            + cores(executorCores)
            + " runs "
            + ranksOfExecutor
            + (ranksOfExecutor == 1 ? " rank)" : " ranks)");
    return (standalone
            ? "--conf spark.cores.max=" + (long) executors * executorCores
            : "--conf spark.executor.instances=" + executors)
        + each;
  }

  private static String cores(int count) {
    return count + (count == 1 ? " core" : " cores");
  }
}
