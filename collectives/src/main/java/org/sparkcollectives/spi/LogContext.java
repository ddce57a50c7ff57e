package org.sparkcollectives.spi;

import java.util.function.Supplier;
import org.slf4j.MDC;
import org.sparkcollectives.spi.failure.RankIdentity;

/**
 * Puts a group, a rank and an operation into slf4j's MDC while code runs that may log something of
 * them. Threads are the user's or shared by groups: what they had under these keys before is put
 * back.
 *
 * @param group the group's name
 * @param rank the rank in the group
 * @param operation the operation; empty for none
 */
public record LogContext(String group, String rank, String operation) {

  /** The key of the group's name. */
  public static final String GROUP = "collectives.group";

  /** The key of the rank in the group. */
  public static final String RANK = "collectives.rank";

  /** The key of the operation, such as {@code all-reduce #7 (float32 x 8, SUM)}. */
  public static final String OPERATION = "collectives.operation";

  /** Returns the context of a rank in a group. */
  public static LogContext of(RankIdentity rank) {
    return of(rank.group(), rank.rank());
  }

  /** Returns the context of a rank in a group. */
  public static LogContext of(String group, int rank) {
    return new LogContext(group, Integer.toString(rank), "");
  }

  /** Returns this context with an operation. */
  public LogContext during(String described) {
    return new LogContext(group, rank, described);
  }

  /** Runs {@code body} in this context. */
  public void run(Runnable body) {
    call(
        () -> {
          body.run();
          return null;
        });
  }

  /** Returns what {@code body} returns in this context. */
  public <T> T call(Supplier<T> body) {
    String groupBefore = MDC.get(GROUP);
    String rankBefore = MDC.get(RANK);
    String operationBefore = MDC.get(OPERATION);
    MDC.put(GROUP, group);
    MDC.put(RANK, rank);
    if (!operation.isEmpty()) {
      MDC.put(OPERATION, operation);
    }
    try {
      return body.get();
    } finally {
      restore(GROUP, groupBefore);
      restore(RANK, rankBefore);
      restore(OPERATION, operationBefore);
    }
  }

  private static void restore(String key, String before) {
    if (before == null) {
      MDC.remove(key);
    } else {
      MDC.put(key, before);
    }
  }
}
