package org.sparkcollectives.ddp;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** Makes sure that all ranks have the same model, and gives them the same values. */
public final class ModelState {

  private ModelState() {}

  /**
   * Checks that all ranks have the same parameters: name, type, shape, order, and whether gradients
   * are sparse. The values are not compared. A collective: one all-gather of 32 bytes a rank, and
   * one more if they differ. Blocks until all ranks have called it, for the group's timeout at the
   * most.
   *
   * @throws IllegalArgumentException on all ranks, with the first difference and both values
   */
  public static void verify(ProcessGroup group, List<Parameter> parameters) {
    verifyLines(group, describe(parameters));
  }

  /** Returns the parameters as text, one line each. */
  static List<String> describe(List<Parameter> parameters) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < parameters.size(); i++) {
      Parameter each = parameters.get(i);
      lines.add(
          "parameter "
              + i
              + ": "
              + (each == null
                  ? "null"
                  : "\""
                      + each.name()
                      + "\", "
                      + each.value()
                      + (each.sparse() ? ", sparse gradients" : ", dense gradients")));
    }
    return lines;
  }

  /**
   * Checks that all ranks give the same lines.
   *
   * @throws IllegalArgumentException on all ranks, with the first line that differs from rank 0's
   */
  static void verifyLines(ProcessGroup group, List<String> lines) {
    byte[] own = digest(lines);
    byte[] all = new byte[own.length * group.size()];
    group.allGather(Tensor.of(all), Tensor.of(own)).await();
    for (int rank = 1; rank < group.size(); rank++) {
      if (!Arrays.equals(all, 0, own.length, all, rank * own.length, (rank + 1) * own.length)) {
        throw new IllegalArgumentException(
            difference(group, group.objects().allGather(String.join("\n", lines)), rank));
      }
    }
  }

  private static byte[] digest(List<String> lines) {
    try {
      byte[] bytes = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JVM has SHA-256", e);
    }
  }

  private static String difference(ProcessGroup group, List<String> texts, int rank) {
    String[] first = texts.get(0).split("\n", -1);
    String[] other = texts.get(rank).split("\n", -1);
    int line = 0;
    while (line < Math.min(first.length, other.length) && first[line].equals(other[line])) {
      line++;
    }
    return "The ranks of group \""
        + group.name()
        + "\" have different models, here on rank "
        + group.rank()
        + ": rank 0 has "
        + lineOf(first, line)
        + " of "
        + first.length
        + ", but rank "
        + rank
        + " has "
        + lineOf(other, line)
        + " of "
        + other.length
        + ". Give the same parameters in the same order, and the same options, on every rank";
  }

  private static String lineOf(String[] lines, int line) {
    return line < lines.length ? "[" + lines[line] + "]" : "no more";
  }

  /**
   * Gives all ranks the values of one rank, as one block of broadcasts. A collective: called by all
   * ranks with tensors of the same types and counts in the same order. Blocks until this rank has
   * the values, for the group's timeout at the most. As c10d's {@code _sync_module_states}.
   *
   * @param tensors the parameters' values, or any other state; overwritten except at the root
   */
  public static void broadcast(ProcessGroup group, List<Tensor> tensors, int root) {
    if (tensors.isEmpty()) {
      return;
    }
    Coalescing block = group.coalesce();
    try (block) {
      tensors.forEach(tensor -> group.broadcast(tensor, root));
    }
    block.work().await();
  }
}
