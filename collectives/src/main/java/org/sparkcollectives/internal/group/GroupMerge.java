package org.sparkcollectives.internal.group;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.store.Store;

/**
 * Joins the ranks of a group with those of others, of which it knows nothing but a store. Rank 0
 * takes the next ranks in the store for its whole group, so that they are neighbours and keep their
 * order.
 *
 * @param group which merges with others
 * @param view of it, for messages in host memory
 */
record GroupMerge(RankGroup group, ProcessGroup view) {

  static final String OPERATION = "merge-remote-group";
  private static final String KEY = "merge";
  private static final byte[] ABSENT = {};

  /** What rank 0 tells where it could not ask the store. */
  private static final long UNKNOWN = -1;

  /** Returns a text that must be the same on all ranks of the group. */
  String describe(int size, GroupOptions options) {
    return "a group \""
        + options.name()
        + "\" of "
        + size
        + " ranks with the options "
        + Long.toHexString(group.subgroups().termsOf(options));
  }

  /**
   * Returns this rank's part of the merged group. Blocks until all ranks have come.
   *
   * @param options with this group's timeout, if they had none
   */
  RankGroup join(Store store, int size, GroupOptions options) {
    long first = first(store.withPrefix(options.name()), size);
    new Arguments(group.name(), group.rank(), group.size())
        .require(
            first + group.size() <= size,
            OPERATION,
            () ->
                "group \""
                    + options.name()
                    + "\" is to have "
                    + size
                    + " ranks, of which other groups have taken "
                    + first
                    + ", so that there is no room for the "
                    + group.size()
                    + " of this one; give the sum of the sizes of all groups that merge");
    return group.subgroups().createMerged(store, (int) first + group.rank(), size, options);
  }

  /** Returns the merged rank of this group's rank 0, or how many are taken if there is no room. */
  private long first(Store store, int size) {
    long[] first = {UNKNOWN};
    RuntimeException failure = null;
    if (group.rank() == 0) {
      try {
        first[0] = group.monitor().askingStore(() -> take(store, size));
      } catch (RuntimeException e) {
        failure = e;
      }
    }
    view.broadcast(Tensor.of(first), 0).await();
    if (failure != null) {
      throw failure;
    }
    if (first[0] == UNKNOWN) {
      throw new CollectiveException(
          OPERATION
              + " of group \""
              + group.name()
              + "\" on rank "
              + group.rank()
              + ": rank 0 could not ask the store; its exception says why");
    }
    return first[0];
  }

  private long take(Store store, int size) {
    byte[] known = ABSENT;
    while (true) {
      long taken = known.length == 0 ? 0 : taken(known);
      if (taken + group.size() > size) {
        return taken;
      }
      // Another group may take as many: what each of them writes must differ.
      byte[] mine =
          (taken + group.size() + " " + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);
      byte[] now = store.compareSet(KEY, known, mine);
      if (Arrays.equals(now, mine)) {
        return taken;
      }
      known = now;
    }
  }

  private static long taken(byte[] value) {
    String text = new String(value, StandardCharsets.US_ASCII);
    return Long.parseLong(text.substring(0, text.indexOf(' ')));
  }
}
