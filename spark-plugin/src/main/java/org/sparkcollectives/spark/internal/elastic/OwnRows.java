package org.sparkcollectives.spark.internal.elastic;

import java.util.Iterator;
import org.sparkcollectives.spark.elastic.LostRows;
import org.sparkcollectives.spark.elastic.ReplicaRows;

/** The rows of a partition, where no replica takes over those of another. */
record OwnRows<T>(Iterator<T> rows) implements ReplicaRows<T> {

  @Override
  public Iterator<T> ofPartition(int partition) {
    throw new IllegalStateException(
        "The rows of partition "
            + partition
            + " can be read by number only with withLostRows("
            + LostRows.TAKE_OVER
            + "); this replica's own are the iterator itself");
  }

  @Override
  public boolean hasNext() {
    return rows.hasNext();
  }

  @Override
  public T next() {
    return rows.next();
  }
}
