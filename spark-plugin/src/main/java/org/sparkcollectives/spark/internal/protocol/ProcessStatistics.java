package org.sparkcollectives.spark.internal.protocol;

/**
 * What an executor's process holds and has done for its ranks, since it began.
 *
 * @param bytesSent bytes that were written to connections between ranks
 * @param connections how many connections between ranks are open
 * @param sharedBytes how many bytes of shared memory are mapped
 */
public record ProcessStatistics(long bytesSent, long connections, long sharedBytes) {

  /** A process that has done nothing. */
  public static final ProcessStatistics NONE = new ProcessStatistics(0, 0, 0);
}
