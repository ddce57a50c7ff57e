package org.sparkcollectives.spark.internal.driver;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import scala.Option;
import scala.collection.Iterator;

/**
 * The resources that the tasks of a stage need: the resource profiles of its RDD, and of those that
 * are computed in the same stage.
 */
final class StageResources {

  private final SparkContext context;
  private final Set<ResourceProfile> profiles;

  private StageResources(SparkContext context, Set<ResourceProfile> profiles) {
    this.context = context;
    this.profiles = profiles;
  }

  static StageResources of(RDD<?> rdd) {
    SparkContext context = rdd.sparkContext();
    Set<ResourceProfile> profiles = new LinkedHashSet<>();
    // The scheduler's own traversal: an RDD's dependencies have another type in Scala 2.12.
    Iterator<ResourceProfile> found =
        context.dagScheduler().getShuffleDependenciesAndResourceProfiles(rdd)._2().iterator();
    while (found.hasNext()) {
      profiles.add(found.next());
    }
    if (profiles.isEmpty()) {
      profiles.add(context.resourceProfileManager().defaultResourceProfile());
    }
    return new StageResources(context, profiles);
  }

  /**
   * Returns the profile that an RDD has asked for.
   *
   * @return null if none has
   * @throws IllegalStateException if several have asked for different ones
   */
  ResourceProfile requested() {
    List<ResourceProfile> own =
        profiles.stream()
            .filter(each -> each.id() != ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID())
            .toList();
    if (own.size() > 1) {
      throw new IllegalStateException(
          "The rows come from RDDs with several resource profiles: call withResources on the last"
              + " of them only");
    }
    return own.isEmpty() ? null : own.get(0);
  }

  /**
   * Returns how many of the stage's tasks can run at the same time now. If Spark merges several
   * profiles, it takes the largest demands; so this is the smallest number of slots.
   */
  int slots() {
    return profiles.stream().mapToInt(context::maxNumConcurrentTasks).min().orElseThrow();
  }

  /**
   * Returns how many of the stage's tasks an executor can run at the same time, or 0 if the
   * settings do not say how many cores an executor has.
   */
  int ranksOfExecutor() {
    int most = Integer.MAX_VALUE;
    for (ResourceProfile profile : profiles) {
      int tasks = tasksOfExecutor(profile);
      if (tasks == 0 || !profile.isCoresLimitKnown()) {
        return 0;
      }
      most = Math.min(most, tasks);
    }
    return most;
  }

  private int tasksOfExecutor(ResourceProfile profile) {
    try {
      return profile.maxTasksPerExecutor(context.conf());
    } catch (Exception e) { // A SparkException, which Scala does not declare: it does not fit.
      return 0;
    }
  }

  /** Returns the fewest cores that an executor for these tasks has. */
  int executorCores() {
    int configured = context.conf().getInt("spark.executor.cores", 1);
    return profiles.stream()
        .map(profile -> (Option<?>) profile.getExecutorCores())
        .mapToInt(cores -> cores.isEmpty() ? configured : (Integer) cores.get())
        .min()
        .orElseThrow();
  }

  /** Returns the cores that a task needs, rounded up: Spark 4.3 has fractions. */
  int taskCpus() {
    String configured = context.conf().get("spark.task.cpus", "1");
    return profiles.stream()
        .map(profile -> (Option<?>) profile.getTaskCpus())
        .mapToInt(cpus -> cores(cpus.isEmpty() ? configured : cpus.get()))
        .max()
        .orElseThrow();
  }

  /**
   * Returns a number of cores, rounded up.
   *
   * @param cpus an Integer, or from Spark 4.3 on Scala's BigDecimal; or the text of a setting
   */
  static int cores(Object cpus) {
    return new BigDecimal(cpus.toString().trim()).setScale(0, RoundingMode.CEILING).intValue();
  }

  /** Returns what a task needs, in words. */
  String demand() {
    Set<String> others = new TreeSet<>();
    boolean own = false;
    for (ResourceProfile profile : profiles) {
      others.addAll(profile.taskResourcesJMap().keySet());
      own |= profile.id() != ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID();
    }
    others.remove(ResourceProfile.CPUS());
    int cpus = taskCpus();
    return cpus
        + (cpus == 1 ? " core" : " cores")
        + (others.isEmpty() ? "" : " and " + String.join(", ", others))
        + " for each task ("
        + (own ? "the RDD's resource profile" : "spark.task.cpus")
        + ")";
  }
}
