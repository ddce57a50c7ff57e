package org.sparkcollectives.ddp;

import java.util.List;

/**
 * What a {@link GradientReducer} has done on this rank: its buckets, and how long the sampled steps
 * took. The first ten steps are sampled, and then each 100th or as {@link
 * ReducerOptions#withStatisticsEvery} says. Steps without synchronisation do not count.
 *
 * @param steps how many steps have been finished
 * @param sampledStep the number of the step that {@code last} is of, from 1; 0 if there is none
 * @param bucketBytes the size of each bucket; 0 of a sparse gradient
 * @param bucketParameters the parameters of each bucket, by their positions
 * @param rebuilt whether the buckets have been laid anew
 * @param readyOrder the order in which this rank marked its parameters in the sampled step
 * @param last how long the sampled step took
 * @param mean the mean over all sampled steps
 * @param error why the last step that failed did; empty if none has
 */
public record ReducerStatistics(
    long steps,
    long sampledStep,
    List<Long> bucketBytes,
    List<List<Integer>> bucketParameters,
    boolean rebuilt,
    List<Integer> readyOrder,
    Times last,
    Times mean,
    String error) {

  /**
   * The times of a step in nanoseconds.
   *
   * @param forward from the beginning of the forward pass to that of the backward pass
   * @param backward from there to the last gradient that was marked
   * @param communication from the beginning of the first bucket's reduction to the end of the last
   * @param overlap how long the backward pass and the communication ran at the same time
   */
  public record Times(double forward, double backward, double communication, double overlap) {

    /** No step. */
    static final Times NONE = new Times(0, 0, 0, 0);

    /** Returns the mean of {@code count} times of which this is the mean, and one more. */
    Times with(Times next, long count) {
      return new Times(
          mean(forward, next.forward, count),
          mean(backward, next.backward, count),
          mean(communication, next.communication, count),
          mean(overlap, next.overlap, count));
    }

    private static double mean(double before, double next, long count) {
      return before + (next - before) / (count + 1);
    }
  }
}
