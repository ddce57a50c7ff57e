package org.sparkcollectives.ml.internal.optim;

import org.apache.spark.broadcast.Broadcast;
import scala.reflect.ClassTag$;

/**
 * A broadcast whose value is here already. Spark's aggregators ask for broadcasts; in a rank the
 * value came by a collective.
 */
public final class LocalBroadcast<T> extends Broadcast<T> {

  private static final long serialVersionUID = 1;

  private final transient T local;

  /** Creates a broadcast of {@code value}. */
  public LocalBroadcast(T value) {
    super(-1, ClassTag$.MODULE$.apply(Object.class));
    this.local = value;
  }

  @Override
  public T getValue() {
    return local;
  }

  @Override
  public void doUnpersist(boolean blocking) {}

  @Override
  public void doDestroy(boolean blocking) {}
}
