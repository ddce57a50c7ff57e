package org.sparkcollectives.spi;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreTimeoutException;

/**
 * A request to all ranks of a world group, made by a key in the group's part of the store. The n-th
 * request has a key of its own, for which the ranks wait. They answer on threads of the library, so
 * even when they are stuck in their own code. Any process that sees the store may make a request.
 *
 * @param number counts the requests of a group, from 1
 * @param kind what is asked for
 * @param reason shown in dumps; may be empty
 */
public record RankRequest(long number, Kind kind, String reason) {

  private static final String COUNTER = "control/requests";
  private static final Duration SHORTEST_WAIT = Duration.ofMillis(1);

  /** The kind of a request. */
  public enum Kind {
    /** A dump of the flight recorder. It does not come back as an answer in the store. */
    DUMP,
    /** A sign that the rank is there. */
    PING,
    /** The stacks of all threads of the rank's JVM. */
    STACKS,
    /** The rank's groups and their progress. */
    GROUPS
  }

  /** The prefix of the keys of requests; the request's number follows. */
  public static final String KEYS = "control/request/";

  private static String answerKey(long number, int rank) {
    return "control/answer/" + number + "/" + rank;
  }

  /**
   * Sends a request to all ranks. Takes two calls of the store.
   *
   * @return the number of the request
   */
  public static long make(Store groupStore, Kind kind, String reason) {
    long number = groupStore.add(COUNTER, 1);
    String text = kind + "\n" + reason;
    groupStore.set(KEYS + number, text.getBytes(StandardCharsets.UTF_8));
    return number;
  }

  /**
   * Returns the n-th request.
   *
   * @param value the value of its key
   * @throws IllegalArgumentException if this version does not know what it asks for
   */
  public static RankRequest of(long number, byte[] value) {
    String[] parts = new String(value, StandardCharsets.UTF_8).split("\n", 2);
    return new RankRequest(number, Kind.valueOf(parts[0]), parts.length == 1 ? "" : parts[1]);
  }

  /** Returns the name under which the dumps of the n-th request are filed. */
  public static String occasion(long number) {
    return "request-" + number;
  }

  /** Answers as a rank. */
  public void answer(Store groupStore, RankAnswer answer) {
    groupStore.set(answerKey(number, answer.rank()), answer.encode());
  }

  /**
   * Waits until all ranks have answered the n-th request, for {@code atMost} at the most, and
   * deletes the answers from the store.
   *
   * @return the answers that have come, in the order of the ranks
   */
  public static List<RankAnswer> answers(
      Store groupStore, long number, int ranks, Duration atMost) {
    long end = System.nanoTime() + atMost.toNanos();
    List<RankAnswer> answers = new ArrayList<>();
    List<String> read = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      Duration left = Duration.ofNanos(end - System.nanoTime());
      String key = answerKey(number, rank);
      try {
        Duration wait = left.compareTo(SHORTEST_WAIT) > 0 ? left : SHORTEST_WAIT;
        answers.add(RankAnswer.decode(rank, groupStore.withTimeout(wait).get(key)));
        read.add(key);
      } catch (StoreTimeoutException e) {
        // A missing answer is reported by its absence.
      }
    }
    groupStore.deleteKeys(read);
    return answers;
  }

  @Override
  public String toString() {
    return kind.name().toLowerCase(Locale.ROOT) + " request " + number;
  }
}
