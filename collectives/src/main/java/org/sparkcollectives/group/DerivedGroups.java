package org.sparkcollectives.group;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * The groups that a user makes from a group, or from a view of it, whose timeout they inherit:
 * checks what the user gives and has {@link Subgroups} make them.
 *
 * @param group that they are made from
 * @param view the group as the user has it
 * @param arguments checks what the user gives
 */
record DerivedGroups(RankGroup group, ProcessGroup view, SubgroupArguments arguments) {

  ProcessGroup newGroup(GroupOptions options) {
    group.requireOpen();
    List<Integer> ranks = arguments.members(options.ranks());
    GroupOptions own = options.timeout().isEmpty() ? options.withTimeout(view.timeout()) : options;
    return owning(
        options.localSynchronization()
            ? group.subgroups().createLocally("local", ranks, own)
            : group.subgroups().createTogether("group", ranks, own));
  }

  ProcessGroup newSubgroups(int groupSize) {
    group.requireOpen();
    List<List<Integer>> all = arguments.subgroupsOf(groupSize);
    return owning(group.subgroups().createOneOf("subgroups", all, inherited()));
  }

  ProcessGroup newSubgroups(List<int[]> globalRanks) {
    group.requireOpen();
    List<List<Integer>> all = arguments.subgroups(globalRanks);
    return owning(group.subgroups().createOneOf("enumeration", all, inherited()));
  }

  ProcessGroup split(int color, int key) {
    group.requireOpen();
    long[] all = new long[2 * group.size()];
    view.allGather(Tensor.of(all), Tensor.of((long) color, key)).await();
    List<Integer> ranks =
        IntStream.range(0, group.size())
            .boxed()
            .filter(rank -> all[2 * rank] == color)
            .sorted(Comparator.comparingLong(rank -> all[2 * rank + 1]))
            .toList();
    return owning(
        group.subgroups().createAgreed("split", color, color < 0 ? List.of() : ranks, inherited()));
  }

  ProcessGroup shrink(int... excludedRanks) {
    group.requireNotClosed();
    List<Integer> remaining = arguments.remaining(excludedRanks);
    return owning(group.subgroups().createRemaining(remaining, inherited()));
  }

  /** Those that this rank has, in the order in which they were made. */
  List<ProcessGroup> open() {
    return group.subgroups().open().stream().map(DerivedGroups::owning).toList();
  }

  /** The one of that name, of all that this rank has of the same world. */
  ProcessGroup named(String name) {
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
    return owning(found);
  }

  private GroupOptions inherited() {
    return GroupOptions.defaults().withTimeout(view.timeout());
  }

  /** As the user gets it; null where this rank is no member. */
  private static ProcessGroup owning(RankGroup made) {
    return made == null ? null : RankProcessGroup.owning(made);
  }
}
