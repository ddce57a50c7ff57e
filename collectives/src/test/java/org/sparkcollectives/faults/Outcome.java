package org.sparkcollectives.faults;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;

/**
 * The end of a rank's part in a case, as its process prints it.
 *
 * @param micros when, in microseconds since the epoch, so that all processes of a host agree
 * @param exception the simple name of what was thrown; {@link #NOTHING} where all went well
 * @param kind the {@link Failure.Kind} of the record, or a dash
 * @param ranks the rank of the record, or those missing at a deadline, with commas; or a dash
 * @param message what a user reads, with what is known of the cause
 */
public record Outcome(long micros, String exception, String kind, String ranks, String message) {

  /** The text in place of an exception. */
  public static final String NOTHING = "nothing";

  private static final String NONE = "-";

  /** Returns the present time, in microseconds since the epoch. */
  public static long now() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }

  /** Returns the outcome of a rank that needed no other rank any more. */
  public static Outcome well(String message) {
    return new Outcome(now(), NOTHING, NONE, NONE, message);
  }

  /** Returns the outcome of a rank whose operation has thrown. */
  public static Outcome of(Throwable thrown) {
    long at = now();
    String exception = thrown.getClass().getSimpleName();
    if (thrown instanceof PeerFailedException peer) {
      Failure failure = peer.failure();
      return new Outcome(
          at,
          exception,
          failure.kind().name(),
          String.valueOf(failure.rank()),
          peer.getMessage() + " | " + failure.cause());
    }
    if (thrown instanceof CollectiveTimeoutException timeout) {
      String missing =
          Arrays.stream(timeout.missingRanks())
              .mapToObj(String::valueOf)
              .collect(Collectors.joining(","));
      return new Outcome(
          at,
          exception,
          Failure.Kind.TIMEOUT.name(),
          missing.isEmpty() ? NONE : missing,
          text(timeout));
    }
    return new Outcome(at, exception, NONE, NONE, text(thrown));
  }

  private static String text(Throwable thrown) {
    StringBuilder text = new StringBuilder(String.valueOf(thrown.getMessage()));
    for (Throwable cause = thrown.getCause(); cause != null; cause = cause.getCause()) {
      text.append(" | ").append(cause);
    }
    return text.toString();
  }

  /** Returns the text that {@link #decode} reads. */
  public String encode() {
    String line = message.replace('\n', ' ').replace('\t', ' ');
    return String.join("\t", String.valueOf(micros), exception, kind, ranks, line);
  }

  public static Outcome decode(String text) {
    String[] fields = text.split("\t", 5);
    return new Outcome(Long.parseLong(fields[0]), fields[1], fields[2], fields[3], fields[4]);
  }

  public boolean isWell() {
    return exception.equals(NOTHING);
  }

  /** Returns whether it names this rank, and no other. */
  public boolean names(int rank) {
    return ranks.equals(String.valueOf(rank));
  }

  /** Returns whether it names no rank, because none is known. */
  public boolean namesNobody() {
    return ranks.equals(NONE);
  }
}
