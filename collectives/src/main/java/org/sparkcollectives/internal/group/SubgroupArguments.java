package org.sparkcollectives.internal.group;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.store.Store;

/** Refuses wrong members of new groups, before other ranks learn of them. */
final class SubgroupArguments extends CallChecks {

  private final Membership parent;

  /** Creates the checks for groups made from this one. */
  SubgroupArguments(Membership parent) {
    super(parent.name(), parent.rank(), parent.size());
    this.parent = parent;
  }

  /**
   * Returns the group ranks of the members that a user names by their global ranks; all if none.
   */
  List<Integer> members(int[] globalRanks) {
    if (globalRanks.length == 0) {
      return IntStream.range(0, size).boxed().toList();
    }
    List<Integer> named = IntStream.of(globalRanks).boxed().toList();
    require(
        new HashSet<>(named).size() == named.size(),
        "new-group",
        () -> "the list of ranks must not contain duplicate entries, got " + named);
    List<Integer> global = parent.endpoints().stream().map(Endpoint::rank).toList();
    return named.stream()
        .map(
            each -> {
              require(
                  global.contains(each),
                  "new-group",
                  () -> "rank " + each + " is not in this group, whose global ranks are " + global);
              return global.indexOf(each);
            })
        .toList();
  }

  /** Returns all ranks in blocks of equal size. */
  List<List<Integer>> subgroupsOf(int groupSize) {
    String operation = "new-subgroups";
    require(groupSize > 0, operation, () -> "the group size (" + groupSize + ") must be positive");
    require(
        groupSize <= size,
        operation,
        () -> "the group size (" + groupSize + ") must not exceed the world size (" + size + ")");
    require(
        size % groupSize == 0,
        operation,
        () ->
            "the world size ("
                + size
                + ") must be divisible by the group size ("
                + groupSize
                + ")");
    return IntStream.range(0, size / groupSize)
        .mapToObj(
            block -> IntStream.range(block * groupSize, (block + 1) * groupSize).boxed().toList())
        .toList();
  }

  /** Returns lists of members, given by their global ranks; no rank may be in two. */
  List<List<Integer>> subgroups(List<int[]> globalRanks) {
    String operation = "new-subgroups";
    require(globalRanks != null, operation, "the list of groups is null");
    require(!globalRanks.isEmpty(), operation, "the list of groups cannot be empty");
    Map<Integer, int[]> seen = new HashMap<>();
    for (int[] ranks : globalRanks) {
      require(ranks.length > 0, operation, "a group must have a member");
      for (int each : ranks) {
        int[] before = seen.put(each, ranks);
        require(
            before == null || before == ranks,
            operation,
            () ->
                "rank "
                    + each
                    + " has appeared in both "
                    + Arrays.toString(before)
                    + " and "
                    + Arrays.toString(ranks));
      }
    }
    return globalRanks.stream().map(this::members).toList();
  }

  /** Refuses options that name members where they follow from the call. */
  void namesNoRanks(String operation, GroupOptions options) {
    require(
        options.ranks().length == 0,
        operation,
        () ->
            "the options name the ranks "
                + Arrays.toString(options.ranks())
                + ", but who is in which group follows from the call; withRanks is for newGroup");
    require(
        !options.localSynchronization(),
        operation,
        "all ranks call it; withLocalSynchronization is for newGroup");
  }

  /**
   * Refuses a split for which ranks gave different options.
   *
   * @param terms ranks with what stands for their options
   */
  void alike(List<Map.Entry<Integer, Long>> terms) {
    for (Map.Entry<Integer, Long> each : terms) {
      require(
          each.getValue().equals(terms.get(0).getValue()),
          "split",
          () ->
              "rank "
                  + each.getKey()
                  + " gave other transports or another debug level than rank "
                  + terms.get(0).getKey()
                  + "; all ranks must give the same options");
    }
  }

  /** Refuses what no other group can be merged with. */
  void merged(Store store, int mergedSize, String name) {
    String operation = GroupMerge.OPERATION;
    require(store != null, operation, "the store is null");
    require(
        mergedSize >= size,
        operation,
        () ->
            "the size of the merged group ("
                + mergedSize
                + ") must be at least that of this one ("
                + size
                + ")");
    require(
        !name.isEmpty(),
        operation,
        "the merged group needs a name, which all groups that merge give: see"
            + " GroupOptions.withName");
  }

  /** Returns the group ranks without those that a user excludes. */
  List<Integer> remaining(int[] excluded) {
    String operation = "shrink";
    require(
        excluded.length > 0,
        operation,
        "name at least one rank to exclude, such as the one that failed");
    Set<Integer> out = new HashSet<>();
    for (int each : excluded) {
      require(
          each >= 0 && each < size,
          operation,
          () ->
              "rank "
                  + each
                  + " is out of bounds; valid ranks are 0 to "
                  + (size - 1)
                  + globalHint(each));
      require(out.add(each), operation, () -> "rank " + each + " is excluded twice; name it once");
    }
    require(out.size() < size, operation, () -> "all " + size + " ranks are excluded");
    require(
        !out.contains(rank),
        operation,
        () -> "this rank is in the list of excluded ranks " + out + " and must not call it");
    return IntStream.range(0, size).filter(each -> !out.contains(each)).boxed().toList();
  }

  private String globalHint(int globalRank) {
    for (int each = 0; each < size; each++) {
      if (parent.globalRank(each) == globalRank) {
        return ". These are ranks of this group, where global rank "
            + globalRank
            + " has rank "
            + each;
      }
    }
    return "";
  }
}
