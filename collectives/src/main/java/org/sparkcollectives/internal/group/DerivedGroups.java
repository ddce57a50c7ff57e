package org.sparkcollectives.internal.group;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ShrinkMode;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.spi.CallCheck;
import org.sparkcollectives.store.Store;

/**
 * Makes groups from a group, or from a view of it, whose timeout they inherit: checks the arguments
 * and has {@link Subgroups} do the rest. Methods that make a group return null where this rank is
 * no member.
 *
 * @param group that they are made from
 * @param view the group as the user has it
 * @param arguments checks what the user gives
 */
record DerivedGroups(RankGroup group, ProcessGroup view, SubgroupArguments arguments) {

  RankGroup newGroup(GroupOptions options) {
    group.requireOpen();
    List<Integer> ranks = arguments.members(options.ranks());
    GroupOptions own = inheriting(options);
    return options.localSynchronization()
        ? group.subgroups().createLocally("local", ranks, own)
        : group.subgroups().createTogether("group", ranks, own);
  }

  RankGroup newSubgroups(int groupSize, GroupOptions options) {
    group.requireOpen();
    List<List<Integer>> all = arguments.subgroupsOf(groupSize);
    return oneOf("subgroups", all, withoutRanks("new-subgroups", options));
  }

  RankGroup newSubgroups(List<int[]> globalRanks, GroupOptions options) {
    group.requireOpen();
    List<List<Integer>> all = arguments.subgroups(globalRanks);
    return oneOf("enumeration", all, withoutRanks("new-subgroups", options));
  }

  RankGroup newLocalGroup(GroupOptions options) {
    group.requireOpen();
    Locality hosts = group.members().hosts();
    List<List<Integer>> all =
        IntStream.range(0, hosts.nodes())
            .mapToObj(host -> Arrays.stream(hosts.ranks(host)).boxed().toList())
            .toList();
    return oneOf("host", all, withoutRanks("new-local-group", options));
  }

  private RankGroup oneOf(String kind, List<List<Integer>> all, GroupOptions options) {
    return group.subgroups().createOneOf(kind, all, options);
  }

  RankGroup split(int color, int key, GroupOptions options) {
    group.requireOpen();
    GroupOptions own = withoutRanks("split", options);
    int parts = 3;
    long terms = group.subgroups().termsOf(own);
    long[] all = new long[parts * group.size()];
    view.allGather(Tensor.of(all), Tensor.of((long) color, key, terms)).await();
    List<Integer> ranks =
        IntStream.range(0, group.size())
            .boxed()
            .filter(rank -> all[parts * rank] == color)
            .sorted(Comparator.comparingLong(rank -> all[parts * rank + 1]))
            .toList();
    arguments.alike(
        IntStream.range(0, group.size())
            .filter(rank -> all[parts * rank] >= 0)
            .mapToObj(rank -> Map.entry(rank, all[parts * rank + 2]))
            .toList());
    return group.subgroups().createAgreed("split", color, color < 0 ? List.of() : ranks, own);
  }

  RankGroup mergeRemoteGroup(Store store, int size, GroupOptions options) {
    group.requireOpen();
    GroupMerge merge = new GroupMerge(group, view);
    new CallCheck(view, GroupMerge.OPERATION)
        .compare(
            () -> {
              arguments.namesNoRanks(GroupMerge.OPERATION, options);
              arguments.merged(store, size, options.name());
              return List.of(merge.describe(size, inheriting(options)));
            });
    return merge.join(store, size, inheriting(options));
  }

  RankGroup shrink(int[] excludedGroupRanks, ShrinkMode mode, GroupOptions options) {
    group.requireNotClosed();
    Objects.requireNonNull(mode, "mode");
    List<Integer> remaining = arguments.remaining(excludedGroupRanks);
    GroupOptions own = withoutRanks("shrink", options);
    if (mode == ShrinkMode.ABORT) {
      // The groups that were made from this one go on, because they may be those of an earlier
      // shrink.
      group
          .monitor()
          .reports()
          .abort(
              new IllegalStateException(
                  "the group is shrunk with ShrinkMode.ABORT, without ranks "
                      + Arrays.toString(excludedGroupRanks)));
    }
    return group.subgroups().createRemaining(remaining, own);
  }

  /** Returns the group of that name, of all groups of this rank in the same world. */
  RankGroup named(String name) {
    RankGroup found = group.find(name);
    if (found == null) {
      throw new IllegalArgumentException(
          "Could not resolve the process group registered under the name \""
              + name
              + "\" on rank "
              + group.rank()
              + ": open are "
              + group.names());
    }
    return found;
  }

  /** Returns the options of groups whose members follow from the call, with the view's timeout. */
  private GroupOptions withoutRanks(String operation, GroupOptions options) {
    arguments.namesNoRanks(operation, options);
    return inheriting(options);
  }

  private GroupOptions inheriting(GroupOptions options) {
    return options.timeout().isEmpty() ? options.withTimeout(view.timeout()) : options;
  }
}
