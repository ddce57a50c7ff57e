package org.sparkcollectives.spark.internal.driver;

import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import scala.collection.Iterator;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.Nil$;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Some partitions of an RDD, as those of a barrier stage.
 *
 * <p>All RDDs of a barrier stage must have as many partitions as it has tasks (SPARK-24820), which
 * is why this one is behind the shuffles that its rows come from, and not behind the RDD that it
 * reads. So Spark runs these shuffles first, but does not know where the partitions are cached.
 */
public final class ReplicaPartitions<T> extends RDD<T> implements DependenciesInScala212 {

  private static final long serialVersionUID = 1;

  private record Part(int index, Partition ofParent) implements Partition {

    private static final long serialVersionUID = 1;
  }

  private final RDD<T> rows;
  private final transient int first;
  private final transient int count;

  private ReplicaPartitions(RDD<T> rows, int first, int count) {
    super(rows, tag());
    this.rows = rows;
    this.first = first;
    this.count = count;
  }

  private static <T> ClassTag<T> tag() {
    return ClassTag$.MODULE$.apply(Object.class);
  }

  /**
   * Returns the partitions of one replica, with the resources that the rows ask for.
   *
   * @param size how many partitions a replica has
   */
  public static <T> RDD<T> of(RDD<T> rows, int replica, int size) {
    RDD<T> own = new ReplicaPartitions<>(rows, replica * size, size);
    ResourceProfile profile = StageResources.of(rows).requested();
    return profile == null ? own : own.withResources(profile);
  }

  @Override
  public Partition[] getPartitions() {
    Partition[] all = rows.partitions();
    Partition[] own = new Partition[count];
    for (int i = 0; i < count; i++) {
      own[i] = new Part(i, all[first + i]);
    }
    return own;
  }

  @Override
  public scala.collection.immutable.List<Dependency<?>> getDependencies() {
    List<ShuffleDependency<?, ?, ?>> shuffles = StageChain.shuffles(rows);
    scala.collection.immutable.List<Dependency<?>> dependencies = empty();
    for (ShuffleDependency<?, ?, ?> each : shuffles) {
      dependencies = new $colon$colon<>(each, dependencies);
    }
    return dependencies;
  }

  @SuppressWarnings("unchecked") // An empty list is of any type.
  private static <E> scala.collection.immutable.List<E> empty() {
    return (scala.collection.immutable.List<E>) (Object) Nil$.MODULE$;
  }

  @Override
  public Iterator<T> compute(Partition part, TaskContext task) {
    return rows.iterator(((Part) part).ofParent(), task);
  }
}
