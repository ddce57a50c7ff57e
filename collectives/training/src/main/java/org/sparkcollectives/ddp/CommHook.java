package org.sparkcollectives.ddp;

import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.Tensor;

/**
 * Reduces a bucket of gradients in place of the reducer's all-reduce: c10d's communication hook.
 *
 * <p>The reducer calls it for one bucket after the other, in the same order on every rank, on a
 * thread of its own. It may wait there for collectives, and all of them must have begun when it
 * returns: so those of two buckets cannot meet.
 */
@FunctionalInterface
public interface CommHook {

  /**
   * Begins the reduction of a bucket.
   *
   * @return the reduced gradients, with the type and the count of the bucket's buffer; the reducer
   *     does not divide them
   */
  CompletableFuture<Tensor> run(GradientBucket bucket);
}
