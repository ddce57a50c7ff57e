package org.sparkcollectives.ddp;

import java.util.function.Supplier;

/** Reduces ready buckets, in the order in which they are given. */
interface BucketReduction extends AutoCloseable {

  /**
   * Begins the reduction of a bucket, without waiting for other ranks.
   *
   * @return what waits until the bucket holds the mean, for the group's timeout at the most, and
   *     throws if it could not be reduced; called once
   */
  Runnable begin(ReducerBucket bucket, GradientMean mean);

  /** Runs a call that begins collectives, after those of all buckets that were given before. */
  <T> T afterwards(Supplier<T> call);

  /**
   * Returns whether a reduction may fail on this rank while it succeeds on others. Then a flag in
   * the last bucket does not say whether the step has failed.
   */
  boolean mayFailAlone();

  @Override
  void close();
}
