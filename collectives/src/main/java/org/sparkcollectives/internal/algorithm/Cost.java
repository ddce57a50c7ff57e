package org.sparkcollectives.internal.algorithm;

/**
 * The cost of an algorithm for the rank that it costs most.
 *
 * @param steps the longest chain of messages that wait for each other
 * @param messages the messages sent
 * @param bytes the bytes sent
 * @param streams how many connections carry them at the same time
 * @param fill the bytes that a link could carry in the time for which it waits: in a chain of ranks
 *     for the first segment, between large steps for the end of the one before
 */
record Cost(long steps, long messages, long bytes, int streams, long fill) {

  /** Creates the cost of an algorithm in which no rank waits for more than its own steps. */
  Cost(long steps, long messages, long bytes, int streams) {
    this(steps, messages, bytes, streams, 0);
  }

  /** Creates the cost of an algorithm that sends to one peer at a time. */
  Cost(long steps, long messages, long bytes) {
    this(steps, messages, bytes, 1);
  }
}
