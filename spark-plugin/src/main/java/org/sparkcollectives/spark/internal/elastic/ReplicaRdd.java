package org.sparkcollectives.spark.internal.elastic;

import java.util.Iterator;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.spark.elastic.ReplicaRows;
import scala.reflect.ClassTag$;

/**
 * The tasks of replicas that can read the rows of any partition, without the scheduler.
 *
 * <p>For the scheduler a task depends on its own partition only, so it runs where that one is best
 * read. All partitions of the rows travel with the RDD, as an executor cannot ask for them.
 */
@SuppressWarnings("serial") // Partitions and RDDs are serializable for Spark.
public final class ReplicaRdd<T, R> extends RDD<R> {

  private static final long serialVersionUID = 1;

  private final RDD<T> rows;
  private final Partition[] all;
  private final ReplicaTask<T, R> task;

  /** Creates the tasks, one for each partition of {@code rows}. */
  public ReplicaRdd(RDD<T> rows, ReplicaTask<T, R> task) {
    super(rows, ClassTag$.MODULE$.apply(Object.class));
    this.rows = rows;
    this.all = rows.partitions();
    this.task = task;
  }

  @Override
  public Partition[] getPartitions() {
    return all;
  }

  @Override
  @SuppressWarnings("deprecation") // The converters' successors do not exist in Scala 2.12.
  public scala.collection.Iterator<R> compute(Partition split, TaskContext context) {
    try {
      return scala.collection.JavaConverters.asScalaIterator(
          task.call(new AnyRows(split.index(), context)));
    } catch (Exception e) {
      throw ReplicaRdd.<RuntimeException>unchecked(e);
    }
  }

  /** Throws any exception without declaring it, as Spark does. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E unchecked(Exception e) throws E {
    throw (E) e;
  }

  /** The rows of one task, which runs. */
  private final class AnyRows implements ReplicaRows<T> {

    private final int partition;
    private final TaskContext context;
    private Iterator<T> own;

    AnyRows(int partition, TaskContext context) {
      this.partition = partition;
      this.context = context;
    }

    @Override
    @SuppressWarnings("deprecation")
    public Iterator<T> ofPartition(int number) {
      if (number < 0 || number >= all.length) {
        throw new IllegalArgumentException(
            "There is no partition " + number + " among " + all.length);
      }
      return scala.collection.JavaConverters.asJavaIterator(rows.iterator(all[number], context));
    }

    private Iterator<T> own() {
      if (own == null) {
        own = ofPartition(partition);
      }
      return own;
    }

    @Override
    public boolean hasNext() {
      return own().hasNext();
    }

    @Override
    public T next() {
      return own().next();
    }
  }
}
