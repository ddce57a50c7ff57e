package org.sparkcollectives.spark.event;

/**
 * Says where a rank runs, and how it reaches the others.
 *
 * @param rank the rank in its group
 * @param host the host's name or address
 * @param executor the executor's id
 * @param heap the number of ranks that it reaches in its own JVM
 * @param sharedMemory the number of ranks that it reaches over shared memory
 * @param tcp the number of ranks that it reaches over TCP
 */
public record RankPlace(
    int rank, String host, String executor, int heap, int sharedMemory, int tcp) {

  private static final int MOST_CHARACTERS = 256;

  public RankPlace {
    host = Bounds.text(host, MOST_CHARACTERS);
    executor = Bounds.text(executor, MOST_CHARACTERS);
  }
}
