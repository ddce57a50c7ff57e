package org.sparkcollectives.symmetric;

/**
 * The layout of one rank's memory. Each flag has a line of the cache to itself:
 *
 * <pre>
 *     0    1 when the rank has closed it, else 0           i32
 *     64   for each channel, for each source: 1 while a signal is there, else 0   i32
 *     ...  what the ranks put there
 * </pre>
 *
 * @param ranks the number of ranks
 * @param channels the number of channels
 */
record PadLayout(int ranks, int channels) {

  /** Where the flag is that says closed. */
  static final int CLOSED = 0;

  private static final int LINE = 64;

  /** Returns where the flag of a source on a channel is. */
  int flag(int channel, int source) {
    return LINE * (1 + channel * ranks + source);
  }

  /** Returns where the data begins. */
  long begin() {
    return LINE * (1L + (long) channels * ranks);
  }
}
