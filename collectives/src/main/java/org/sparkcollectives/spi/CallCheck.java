package org.sparkcollectives.spi;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Checks a call that all ranks of a group make: all ranks go on, or all throw before data moves.
 *
 * <p>A check takes one all-gather of 16 bytes from each rank. Only if it fails do the ranks
 * exchange texts, so that every exception names the first difference or the refusal. The group
 * stays usable.
 */
public final class CallCheck {

  private static final String SEPARATOR = "\u0000";

  /** The digest of what a rank gives, and its outcome. */
  private static final int ROW = 2;

  /** Says whether a rank can go on. */
  private enum Outcome {
    ABLE,
    /** The arguments of the rank are wrong. */
    REFUSED,
    /** The rank cannot do its part, whatever its arguments. */
    FAILED;

    static Outcome of(Throwable thrown) {
      if (thrown == null) {
        return ABLE;
      }
      return thrown instanceof IllegalArgumentException || thrown instanceof NullPointerException
          ? REFUSED
          : FAILED;
    }
  }

  private final ProcessGroup group;
  private final String operation;

  /**
   * Creates the check of a call.
   *
   * @param group whose ranks make the call, and whose timeout bounds each step
   * @param operation what messages call it
   */
  public CallCheck(ProcessGroup group, String operation) {
    this.group = group;
    this.operation = operation;
  }

  /**
   * Compares the arguments of the ranks. A collective: blocks until all ranks have called it, for
   * the group's timeout at the most.
   *
   * @param arguments returns texts that describe this rank's arguments and must be the same on
   *     every rank; throws if this rank cannot go on
   * @throws IllegalArgumentException on all ranks, if the texts differ, or if a rank refuses its
   *     arguments: {@code arguments} has thrown {@link IllegalArgumentException} or {@link
   *     NullPointerException} there
   * @throws IllegalStateException on the ranks where {@code arguments} has thrown another
   *     exception, or there was no memory; a {@link CollectiveException} and other errors are
   *     thrown as they are
   * @throws CollectiveException on the other ranks then
   */
  public void compare(Supplier<List<String>> arguments) {
    List<String> texts = new ArrayList<>(List.of(operation));
    Throwable own = null;
    try {
      texts.addAll(arguments.get());
    } catch (RuntimeException | Error e) { // Else the other ranks would wait in vain.
      own = e;
    }
    long[] rows;
    List<String> reasons;
    try {
      rows = gather(digest(texts), Outcome.of(own));
      reasons = able(rows) ? List.of() : group.objects().allGather(own == null ? "" : reason(own));
    } catch (RuntimeException e) {
      if (own != null) {
        e.addSuppressed(own);
      }
      throw e;
    }
    if (!reasons.isEmpty()) {
      throwReason(rows, reasons, own);
    }
    for (int rank = 1; rank < group.size(); rank++) {
      if (rows[ROW * rank] != rows[0]) {
        throw new IllegalArgumentException(where() + firstDifference(texts));
      }
    }
  }

  /**
   * Runs a step on every rank, and waits for all, so that a rank whose step fails is not waited for
   * in vain.
   *
   * @throws IllegalArgumentException as {@link #compare}, and likewise the other exceptions
   */
  public void byAll(Runnable step) {
    compare(
        () -> {
          step.run();
          return List.of();
        });
  }

  private long[] gather(long digest, Outcome outcome) {
    long[] rows = new long[ROW * group.size()];
    group.allGather(Tensor.of(rows), Tensor.of(digest, outcome.ordinal())).await();
    return rows;
  }

  private boolean able(long... rows) {
    return first(Outcome.REFUSED, rows) < 0 && first(Outcome.FAILED, rows) < 0;
  }

  /** Returns the lowest rank with an outcome; -1 if no rank has it. */
  private int first(Outcome outcome, long... rows) {
    for (int rank = 0; rank < group.size(); rank++) {
      if (rows[ROW * rank + 1] == outcome.ordinal()) {
        return rank;
      }
    }
    return -1;
  }

  private void throwReason(long[] rows, List<String> reasons, Throwable own) {
    if (own instanceof CollectiveException failure) {
      throw failure;
    }
    if (own instanceof Error error && !(own instanceof OutOfMemoryError)) {
      throw error;
    }
    if (own != null) {
      String message = where() + reason(own);
      throw Outcome.of(own) == Outcome.REFUSED
          ? new IllegalArgumentException(message, own)
          : new IllegalStateException(message, own);
    }
    int refusing = first(Outcome.REFUSED, rows);
    if (refusing >= 0) {
      throw new IllegalArgumentException(
          where() + "rank " + refusing + " refused its arguments: " + reasons.get(refusing));
    }
    int failing = first(Outcome.FAILED, rows);
    throw new CollectiveException(
        where() + "rank " + failing + " cannot take part: " + reasons.get(failing));
  }

  /** Returns the reason of this rank, without the beginning that messages have anyway. */
  private String reason(Throwable own) {
    if (!(own instanceof IllegalArgumentException || own instanceof IllegalStateException)) {
      return own.toString();
    }
    String message = String.valueOf(own.getMessage());
    return message.startsWith(where()) ? message.substring(where().length()) : message;
  }

  private String firstDifference(List<String> own) {
    List<List<String>> all =
        group.objects().<String>allGather(String.join(SEPARATOR, own)).stream()
            .map(each -> List.of(Pattern.compile(SEPARATOR, Pattern.LITERAL).split(each, -1)))
            .toList();
    for (int rank = 1; rank < all.size(); rank++) {
      int longest = Math.max(all.get(0).size(), all.get(rank).size());
      for (int i = 0; i < longest; i++) {
        String first = text(all.get(0), i);
        String other = text(all.get(rank), i);
        if (!first.equals(other)) {
          return "rank 0 gives "
              + first
              + ", and rank "
              + rank
              + " gives "
              + other
              + "; all ranks must give the same, in the same order";
        }
      }
    }
    throw new IllegalStateException("The digests differ, and the texts do not: " + own);
  }

  private static String text(List<String> texts, int index) {
    return index < texts.size() ? texts.get(index) : "nothing more";
  }

  /** Returns the operation and this rank, with which messages begin. */
  private String where() {
    return operation
        + " of group \""
        + group.name()
        + "\" on rank "
        + group.rank()
        + " of "
        + group.size()
        + ": ";
  }

  private static long digest(List<String> texts) {
    try {
      byte[] bytes = String.join(SEPARATOR, texts).getBytes(StandardCharsets.UTF_8);
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(bytes)).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JVM has SHA-256", e);
    }
  }
}
