package org.sparkcollectives.examples.benchmark;

import java.io.Serializable;
import java.util.Arrays;

/**
 * The measurement of one size. Bandwidths are in 10<sup>9</sup> bytes per second.
 *
 * @param implementation the implementation of the operation
 * @param operation its name
 * @param bytes the size: that of the larger of a rank's tensors
 * @param count the number of elements that the operation is called with
 * @param dtype their type
 * @param reduction the reduction; null if there is none
 * @param root the root; -1 if there is none
 * @param iterations how often it was measured
 * @param medianMicros the median time; each time is that of the slowest rank
 * @param minMicros the shortest time
 * @param p90Micros the time that one in ten exceeds
 * @param p99Micros the time that one in a hundred exceeds
 * @param cpuMicros the processor time of all JVMs, compilation included, for each rank and
 *     operation; null if not measured
 * @param algorithmBandwidth bytes by median time
 * @param busBandwidth the least that the busiest link carried
 * @param wrongElements of all ranks; null if not checked
 */
record Measurement(
    String implementation,
    String operation,
    long bytes,
    long count,
    String dtype,
    String reduction,
    int root,
    int iterations,
    double medianMicros,
    double minMicros,
    double p90Micros,
    double p99Micros,
    Double cpuMicros,
    double algorithmBandwidth,
    double busBandwidth,
    Long wrongElements)
    implements Serializable {

  /** Creates a measurement from times in nanoseconds, which it does not change. */
  static Measurement of(
      String implementation,
      Plan plan,
      int ranks,
      long count,
      long[] nanos,
      Double cpuMicros,
      Long wrongElements) {
    Operation operation = plan.operation();
    long bytes = operation.elements(count, ranks) * plan.dtype().bytes();
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    double median = median(sorted);
    double bandwidth = median == 0 ? 0 : bytes / median;
    return new Measurement(
        implementation,
        operation.label(),
        bytes,
        count,
        plan.dtype().label(),
        operation.reduces() ? plan.reductionLabel() : null,
        operation.rooted() ? plan.root() : -1,
        sorted.length,
        median / 1e3,
        sorted[0] / 1e3,
        quantile(sorted, 0.9) / 1e3,
        quantile(sorted, 0.99) / 1e3,
        cpuMicros,
        bandwidth,
        bandwidth * operation.busFactor(ranks),
        wrongElements);
  }

  private static double quantile(long[] sorted, double share) {
    return sorted[(int) Math.ceil(sorted.length * share) - 1];
  }

  private static double median(long[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0;
  }
}
