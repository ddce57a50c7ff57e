package org.sparkcollectives.mesh;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Compares what the ranks of a group ask for, so that all of them refuse a call that differs, or
 * that is wrong on one of them. A call costs one all-gather of 32 bytes a rank.
 */
final class MeshAgreement {

  private static final int WORDS = 4;

  private MeshAgreement() {}

  /**
   * Refuses a call on all ranks if it is wrong on one, or another one there.
   *
   * @param group whose ranks all call
   * @param request what this rank asks for
   * @param check throws {@link IllegalArgumentException} if it is wrong
   */
  static void reach(ProcessGroup group, String request, Runnable check) {
    IllegalArgumentException wrong = null;
    try {
      check.run();
    } catch (IllegalArgumentException e) {
      wrong = e;
    } catch (RuntimeException e) { // Else the other ranks would wait in vain.
      wrong = new IllegalArgumentException(e.toString(), e);
    }
    boolean alike = alike(group, wrong == null ? request : "wrong: " + request);
    if (!alike) {
      List<String> all = group.objects().allGather(wrong == null ? request : wrong.getMessage());
      throw new IllegalArgumentException(difference(group, all), wrong);
    }
    if (wrong != null) {
      throw wrong;
    }
  }

  private static boolean alike(ProcessGroup group, String text) {
    long[] mine = digest(text);
    long[] all = new long[WORDS * group.size()];
    group.allGather(Tensor.of(all), Tensor.of(mine)).await();
    for (int rank = 0; rank < group.size(); rank++) {
      if (!Arrays.equals(mine, 0, WORDS, all, WORDS * rank, WORDS * (rank + 1))) {
        return false;
      }
    }
    return true;
  }

  private static String difference(ProcessGroup group, List<String> all) {
    int other = 0;
    while (other < all.size() - 1 && all.get(other).equals(all.get(0))) {
      other++;
    }
    return "The ranks of group \""
        + group.name()
        + "\" must make the same mesh in the same order, but rank "
        + other
        + " says: "
        + all.get(other)
        + ", and rank 0 says: "
        + all.get(0)
        + ". This is rank "
        + group.rank();
  }

  private static long[] digest(String text) {
    try {
      byte[] bytes =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      long[] words = new long[WORDS];
      ByteBuffer.wrap(bytes).asLongBuffer().get(words);
      return words;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java has SHA-256", e);
    }
  }
}
