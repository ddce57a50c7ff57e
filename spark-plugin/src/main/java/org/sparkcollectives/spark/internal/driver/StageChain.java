package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterable;
import scala.collection.Iterator;

/**
 * The RDDs that one stage computes: an RDD and its ancestors up to the next shuffle. All those of a
 * barrier stage must have as many partitions as it has tasks (SPARK-24820).
 */
public final class StageChain {

  private StageChain() {}

  /**
   * Explains why Spark refuses {@code rdd} as a barrier stage, and what to do; empty if it runs it.
   */
  public static Optional<String> misfit(RDD<?> rdd) {
    int partitions = rdd.getNumPartitions();
    Set<Integer> seen = new HashSet<>();
    Deque<RDD<?>> waiting = new ArrayDeque<>();
    waiting.push(rdd);
    while (!waiting.isEmpty()) {
      RDD<?> child = waiting.pop();
      Iterator<?> dependencies = dependencies(child).iterator();
      while (dependencies.hasNext()) {
        Dependency<?> each = (Dependency<?>) dependencies.next();
        if (each instanceof ShuffleDependency) {
          continue;
        }
        RDD<?> parent = each.rdd();
        if (parent.getNumPartitions() != partitions) {
          return Optional.of(describe(partitions, child, parent));
        }
        if (seen.add(parent.id())) {
          waiting.push(parent);
        }
      }
    }
    return Optional.empty();
  }

  /** Returns whether {@code rdd} reads the files of a shuffle, and none of its checkpoints. */
  static boolean readsShuffle(RDD<?> rdd) {
    return !shuffles(rdd).isEmpty();
  }

  /** Returns the shuffles whose files {@code rdd} reads, where it reads none of its checkpoints. */
  static List<ShuffleDependency<?, ?, ?>> shuffles(RDD<?> rdd) {
    List<ShuffleDependency<?, ?, ?>> shuffles = new ArrayList<>();
    Set<Integer> seen = new HashSet<>();
    Deque<RDD<?>> waiting = new ArrayDeque<>();
    waiting.push(rdd);
    while (!waiting.isEmpty()) {
      RDD<?> child = waiting.pop();
      if (child.isCheckpointed() || !seen.add(child.id())) {
        continue;
      }
      Iterator<?> dependencies = dependencies(child).iterator();
      while (dependencies.hasNext()) {
        Dependency<?> each = (Dependency<?>) dependencies.next();
        if (each instanceof ShuffleDependency<?, ?, ?> shuffle) {
          shuffles.add(shuffle);
        } else {
          waiting.push(each.rdd());
        }
      }
    }
    return shuffles;
  }

  private static String describe(int partitions, RDD<?> child, RDD<?> parent) {
    return "The barrier stage has "
        + partitions
        + " partitions, but "
        + child
        + " in it reads an RDD with "
        + parent.getNumPartitions()
        + ", and Spark runs a barrier stage only if all its RDDs have the same number of partitions"
        + " (SPARK-24820). Call repartition("
        + partitions
        + ") behind coalesce, union and the like: ranks then begin behind a shuffle";
  }

  /** Called by name, because the method's type is another one in Scala 2.12. */
  private static Iterable<?> dependencies(RDD<?> rdd) {
    try {
      return (Iterable<?>) RDD.class.getMethod("dependencies").invoke(rdd);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("The dependencies of " + rdd + " cannot be read", e);
    }
  }
}
