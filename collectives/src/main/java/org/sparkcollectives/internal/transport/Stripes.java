package org.sparkcollectives.internal.transport;

/**
 * Ways over which parts of one large operation travel at the same time, each with connections and a
 * thread of its own: copies into and out of the operating system, and sums, then take place on
 * several processors, and several streams fill a link that one does not.
 *
 * <p>All ranks have as many, and cut an operation alike.
 *
 * <p>Only the thread that runs the group's current operation may use it.
 */
public interface Stripes {

  /** One part of an operation. */
  @FunctionalInterface
  interface Part {

    /**
     * Runs this rank's part.
     *
     * @param index the part's number, from 0 on
     * @param peers the ranks over the stripe with that number, for the calling thread only
     */
    void run(int index, Peers peers);
  }

  /** Returns the only stripe of ranks whose operations are never cut. */
  static Stripes single(Peers peers) {
    return new Stripes() {
      @Override
      public int size() {
        return 1;
      }

      @Override
      public Peers peers(int index) {
        return peers;
      }

      @Override
      public int count(long bytes) {
        return 1;
      }

      @Override
      public void run(int count, Part part) {
        part.run(0, peers);
      }
    };
  }

  /** Returns how many there are. */
  int size();

  /** Returns the ranks over one stripe; the first is that of operations in one part. */
  Peers peers(int index);

  /** Returns in how many parts an operation of so many bytes is cut: 1 if not worth more. */
  int count(long bytes);

  /**
   * Runs parts at the same time, the first on this thread. Blocks until all threads have left them,
   * so that the operation's memory is the caller's again.
   *
   * @param count how many, as {@link #count} says
   * @throws RuntimeException what the first part to fail has thrown; all parts have ended then,
   *     because the group fails with the first
   */
  void run(int count, Part part);
}
