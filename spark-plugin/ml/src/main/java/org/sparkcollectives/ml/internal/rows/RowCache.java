package org.sparkcollectives.ml.internal.rows;

import java.util.function.Supplier;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.storage.StorageLevel;

/** Keeps rows in Spark's cache while a fit reads them several times. */
public final class RowCache {

  private RowCache() {}

  /**
   * Returns what {@code fit} returns. The cache has the rows until then, unless it has the dataset
   * that they come from.
   */
  public static <R> R during(Dataset<?> dataset, JavaRDD<?> rows, Supplier<R> fit) {
    if (!dataset.storageLevel().equals(StorageLevel.NONE())) {
      return fit.get();
    }
    rows.persist(StorageLevel.MEMORY_AND_DISK());
    try {
      return fit.get();
    } finally {
      rows.unpersist();
    }
  }
}
