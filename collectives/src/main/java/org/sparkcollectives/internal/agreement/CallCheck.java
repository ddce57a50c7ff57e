package org.sparkcollectives.internal.agreement;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
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

  private final ProcessGroup group;
  private final String call;

  /**
   * Creates the check of a call.
   *
   * @param group whose ranks make the call, and whose timeout bounds each step
   * @param call what messages call it
   */
  public CallCheck(ProcessGroup group, String call) {
    this.group = group;
    this.call = call;
  }

  /**
   * Compares what the ranks have given. Blocks until all ranks have come, for the group's timeout
   * at the most.
   *
   * @param given returns texts that must be the same on every rank; throws if this rank cannot go
   *     on
   * @throws IllegalArgumentException on the ranks where {@code given} has thrown it; where it has
   *     thrown another exception, or there was no memory, {@link IllegalStateException}
   * @throws CollectiveException on the other ranks
   * @throws CollectiveMismatchException on every rank, if the texts differ
   */
  public void compare(Supplier<List<String>> given) {
    List<String> texts = new ArrayList<>(List.of(call));
    Throwable refusal = null;
    try {
      texts.addAll(given.get());
    } catch (RuntimeException | OutOfMemoryError e) { // Else the other ranks would wait in vain.
      refusal = e;
    }
    long[] rows = gather(digest(texts), refusal == null ? 0 : 1);
    requireNone(rows, refusal);
    for (int rank = 1; rank < group.size(); rank++) {
      if (rows[2 * rank] != rows[0]) {
        throw new CollectiveMismatchException(where() + ": " + firstDifference(texts));
      }
    }
  }

  /**
   * Runs a step on every rank, and waits for all, so that a rank whose step fails is not waited for
   * in vain.
   *
   * @throws IllegalArgumentException on the ranks where {@code step} has thrown it; where it has
   *     thrown another exception, or there was no memory, {@link IllegalStateException}
   * @throws CollectiveException on the other ranks, if one could not do the step
   */
  public void byAll(Runnable step) {
    compare(
        () -> {
          step.run();
          return List.of();
        });
  }

  private long[] gather(long digest, long refused) {
    long[] rows = new long[2 * group.size()];
    group.allGather(Tensor.of(rows), Tensor.of(digest, refused)).await();
    return rows;
  }

  private void requireNone(long[] rows, Throwable own) {
    int first = -1;
    for (int rank = 0; rank < group.size() && first < 0; rank++) {
      first = rows[2 * rank + 1] == 0 ? -1 : rank;
    }
    if (first < 0) {
      return;
    }
    List<String> reasons = group.objects().allGather(own == null ? "" : reason(own));
    if (own instanceof IllegalArgumentException) {
      throw new IllegalArgumentException(where() + ": " + own.getMessage(), own);
    }
    if (own != null) {
      throw new IllegalStateException(where() + ": " + reason(own), own);
    }
    throw new CollectiveException(
        where() + ": rank " + first + " cannot take part: " + reasons.get(first));
  }

  private static String reason(Throwable own) {
    return own instanceof IllegalArgumentException || own instanceof IllegalStateException
        ? String.valueOf(own.getMessage())
        : own.toString();
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

  /** Returns the call and this rank, with which messages begin. */
  private String where() {
    return call
        + " of group \""
        + group.name()
        + "\" on rank "
        + group.rank()
        + " of "
        + group.size();
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
