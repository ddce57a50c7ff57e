package org.sparkcollectives.spi;

import java.nio.charset.StandardCharsets;

/**
 * A rank's answer to a {@link RankRequest}.
 *
 * @param rank in the world
 * @param host where it runs
 * @param executorId of Spark, or what stands for it
 * @param taskAttemptId of Spark, or -1
 * @param text what was asked for, for people to read
 */
public record RankAnswer(
    int rank, String host, String executorId, long taskAttemptId, String text) {

  byte[] encode() {
    return String.join("\n", host, executorId, Long.toString(taskAttemptId), text)
        .getBytes(StandardCharsets.UTF_8);
  }

  static RankAnswer decode(int rank, byte[] bytes) {
    String[] parts = new String(bytes, StandardCharsets.UTF_8).split("\n", 4);
    return new RankAnswer(rank, parts[0], parts[1], Long.parseLong(parts[2]), parts[3]);
  }

  /**
   * Returns which rank answered, such as {@code rank 3 (executor 2 on host-b, task attempt 17)}.
   */
  public String where() {
    return "rank "
        + rank
        + " (executor "
        + executorId
        + " on "
        + host
        + ", task attempt "
        + taskAttemptId
        + ")";
  }
}
