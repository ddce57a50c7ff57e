package org.sparkcollectives.spark;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import scala.collection.Iterator;

/**
 * What the tasks of the stage that computes an RDD need: the resource profiles of that RDD and of
 * those that are computed in the same stage.
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
    // The scheduler's own walk: an RDD's dependencies are of another type in Scala 2.12.
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
   * How many of the stage's tasks can run at the same time, as of now. Of several profiles Spark
   * merges the largest demands, if it is told to; so it is the smallest number here.
   */
  int slots() {
    return profiles.stream().mapToInt(context::maxNumConcurrentTasks).min().orElseThrow();
  }

  /** The cores that a task needs. */
  int taskCpus() {
    Integer configured = context.conf().getInt("spark.task.cpus", 1);
    return profiles.stream()
        .mapToInt(profile -> profile.getTaskCpus().getOrElse(() -> configured))
        .max()
        .orElseThrow();
  }

  /** What a task needs, in words. */
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
