package org.sparkcollectives.internal.group;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * Compares what the ranks give to a call that consists of several operations, before the first of
 * them. Without the comparison, lists of equal sums but different parts would be taken apart in the
 * wrong places.
 *
 * <p>The ranks reduce a digest of what each gives. Only if digests differ do they gather the
 * descriptions, and then all throw.
 */
final class AlikeTensors {

  /** What the description of a rank begins with, unless it refuses its arguments. */
  private static final String NOT_REFUSED = "";

  /** Where the description of the first tensor is. */
  private static final int FIRST_TENSOR = 2;

  private final ProcessGroup host;
  private final Arguments arguments;
  private final String operation;

  /**
   * Creates the comparison.
   *
   * @param host the group, for messages in host memory
   * @param arguments refuses in the name of this rank
   */
  AlikeTensors(ProcessGroup host, Arguments arguments, String operation) {
    this.host = host;
    this.arguments = arguments;
    this.operation = operation;
  }

  /**
   * Compares the ranks' arguments. Blocks until all ranks have come.
   *
   * @param parameters of the call beside the tensors, which must be alike too
   * @param refusal why this rank refuses its arguments; null if it does not
   * @throws IllegalArgumentException on every rank, if one refuses its arguments, or if two differ;
   *     on a rank that refuses its own it is that one
   */
  void require(String parameters, List<Tensor> tensors, IllegalArgumentException refusal) {
    List<String> own =
        refusal == null
            ? describe(parameters, tensors)
            : List.of(Objects.toString(refusal.getMessage()));
    long digest = digest(own);
    long[] extremes = {digest, -digest};
    host.allReduce(Tensor.of(extremes), ReduceOp.MAX).await();
    boolean alike = extremes[0] == -extremes[1];
    List<List<String>> all = alike ? List.of() : host.objects().allGather(own);
    if (refusal != null) {
      throw refusal;
    }
    if (!alike) {
      throw arguments.refused(operation, difference(all));
    }
  }

  private static List<String> describe(String parameters, List<Tensor> tensors) {
    List<String> parts = new ArrayList<>();
    parts.add(NOT_REFUSED);
    parts.add(parameters);
    tensors.forEach(
        each ->
            parts.add(
                each.dtype().label() + " x " + each.count() + " on a " + each.device().type()));
    return parts;
  }

  /** Returns a digest that has an opposite number. */
  private static long digest(List<String> parts) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      parts.forEach(each -> sha.update((each + "\n").getBytes(StandardCharsets.UTF_8)));
      return ByteBuffer.wrap(sha.digest()).getLong() >> 1;
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  /** Says where the lowest rank that differs from rank 0 does so. */
  private static String difference(List<List<String>> all) {
    List<String> first = all.get(0);
    int other = 1;
    while (all.get(other).equals(first)) {
      other++;
    }
    List<String> odd = all.get(other);
    if (!first.get(0).isEmpty() || !odd.get(0).isEmpty()) {
      int refusing = odd.get(0).isEmpty() ? 0 : other;
      return "rank " + refusing + " refused its arguments: " + all.get(refusing).get(0);
    }
    if (first.size() != odd.size()) {
      return "rank 0 gives "
          + (first.size() - FIRST_TENSOR)
          + " tensors and rank "
          + other
          + " gives "
          + (odd.size() - FIRST_TENSOR)
          + "; all ranks must give the same list";
    }
    int at = Arrays.mismatch(first.toArray(), odd.toArray());
    boolean tensor = at >= FIRST_TENSOR;
    return (tensor ? "tensor " + (at - FIRST_TENSOR) + " is " : "")
        + first.get(at)
        + " on rank 0 and "
        + odd.get(at)
        + " on rank "
        + other
        + "; all ranks must give the same"
        + (tensor ? " types and counts in the same order" : "");
  }
}
