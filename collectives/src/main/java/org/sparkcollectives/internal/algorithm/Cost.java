package org.sparkcollectives.internal.algorithm;

/**
 * The cost of an algorithm for the rank that it costs most.
 *
 * @param steps the longest chain of messages that wait for each other
 * @param messages the messages sent
 * @param bytes the bytes sent
 * @param streams how many connections carry them at the same time
 */
record Cost(long steps, long messages, long bytes, int streams) {

  /** Creates the cost of an algorithm that sends to one peer at a time. */
  Cost(long steps, long messages, long bytes) {
    this(steps, messages, bytes, 1);
  }
}
