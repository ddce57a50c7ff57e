package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.store.Store;

/**
 * Makes groups from a {@link ProcessGroup}.
 *
 * <p><b>Global or group ranks.</b> As in c10d, the members of a new group are named by their
 * <b>global</b> ranks ({@link #newGroup}, {@link #newSubgroups(List)}), and the ranks that {@link
 * #shrink} leaves out by their ranks in <b>this group</b>, which are those that exceptions name. In
 * the world group both are the same.
 *
 * <p>Options that were not chosen are as in this group, or view of it. A new group is closed by its
 * members, at the latest with the group that it was made from; {@link ProcessGroup#abort} of this
 * group aborts it, another failure does not.
 */
public interface SubgroupFactory {

  /**
   * Makes a group of some ranks of this one.
   *
   * @param globalRanks the members, by their <b>global</b> ranks, in the order of their ranks in
   *     the new group; none means all
   * @see #newGroup(GroupOptions)
   */
  ProcessGroup newGroup(int... globalRanks);

  /**
   * Makes a group of the ranks of {@link GroupOptions#withRanks}, which are <b>global</b> ranks.
   * Called by all ranks of this group, or with {@link GroupOptions#withLocalSynchronization} by the
   * new group's members, in the same order as other groups are made.
   *
   * <p>Takes one call of the store, and does not wait for other ranks: a rank that does not come is
   * noticed at the first operation. Several groups may be used at the same time.
   *
   * @return null on ranks that are not members
   * @throws IllegalArgumentException if a rank is not in this group or is named twice, or if
   *     another rank gave other members
   */
  ProcessGroup newGroup(GroupOptions options);

  /** Makes groups of neighbouring ranks, see {@link #newSubgroups(int, GroupOptions)}. */
  default ProcessGroup newSubgroups(int groupSize) {
    return newSubgroups(groupSize, GroupOptions.defaults());
  }

  /**
   * Makes groups of {@code groupSize} neighbouring ranks. Called by all ranks of this group, with
   * the same options.
   *
   * @param options of each of the groups; they name no ranks
   * @return the one with this rank
   * @throws IllegalArgumentException if {@link GroupMembers#size()} is not a multiple of {@code
   *     groupSize}
   */
  ProcessGroup newSubgroups(int groupSize, GroupOptions options);

  /** Makes several groups, see {@link #newSubgroups(List, GroupOptions)}. */
  default ProcessGroup newSubgroups(List<int[]> globalRanks) {
    return newSubgroups(globalRanks, GroupOptions.defaults());
  }

  /**
   * Makes several groups, none of which share a rank. Called by all ranks of this group, with the
   * same options.
   *
   * @param globalRanks the members of each, by their <b>global</b> ranks
   * @param options of each of the groups; they name no ranks
   * @return the one with this rank; null if there is none
   * @throws IllegalArgumentException if a rank is named twice or not in this group
   */
  ProcessGroup newSubgroups(List<int[]> globalRanks, GroupOptions options);

  /** Makes a group for each host, see {@link #newLocalGroup(GroupOptions)}. */
  default ProcessGroup newLocalGroup() {
    return newLocalGroup(GroupOptions.defaults());
  }

  /**
   * Makes a group for each host, of the ranks on it; {@link GroupMembers#localRank} says what a
   * host is. Called by all ranks of this group, with the same options.
   *
   * @param options of each of the groups; they name no ranks
   * @return the one with this rank, in which its rank is its {@link GroupMembers#localRank} here
   */
  ProcessGroup newLocalGroup(GroupOptions options);

  /** Splits this group by colour, see {@link #split(int, int, GroupOptions)}. */
  default ProcessGroup split(int color, int key) {
    return split(color, key, GroupOptions.defaults());
  }

  /**
   * Splits this group as {@code MPI_Comm_split} does: ranks of the same colour get a group, in the
   * order of their keys, and where those are equal in their order here. A collective: called by all
   * ranks, with the same options, and waits for all.
   *
   * @param options of each of the groups; they name no ranks
   * @return the group of this rank's colour; null for a negative colour
   * @throws IllegalArgumentException on all ranks, if one gave options that do not fit the others'
   */
  ProcessGroup split(int color, int key, GroupOptions options);

  /**
   * Makes one group of this one and others, which need not know of each other: c10d's {@code
   * merge_remote_group}. All ranks of all groups that merge call it, over one store. A collective
   * of each of the groups, which waits for all ranks of all of them, for the smaller one of {@link
   * Store#timeout()} and the new group's timeout at the most.
   *
   * <p>The ranks of a group stay neighbours, in their order; the group whose rank 0 comes to the
   * store first has the lowest. (In c10d each rank takes the next number, in any order.) The new
   * group is a world of its own, in which global ranks are its ranks. This group goes on, and
   * closing it closes this rank's part of the new one.
   *
   * @param store one that all ranks of all groups see; it is used until the new group is closed,
   *     and stays open then
   * @param size the number of ranks of all groups together
   * @param options with a {@link GroupOptions#withName name} that all groups give alike and that
   *     has never been used over the store; they name no ranks
   * @throws IllegalArgumentException on all ranks of this group, if one gives something wrong or
   *     something else than another, or if there is no room for this group in {@code size}
   * @throws CollectiveTimeoutException naming the ranks that did not arrive
   */
  ProcessGroup mergeRemoteGroup(Store store, int size, GroupOptions options);

  /**
   * Makes a group without some ranks, see {@link #shrink(int[], ShrinkMode, GroupOptions)}.
   *
   * @param excludedGroupRanks at least one, as ranks of <b>this group</b>, not global ranks
   */
  default ProcessGroup shrink(int... excludedGroupRanks) {
    return shrink(excludedGroupRanks, ShrinkMode.DEFAULT, GroupOptions.defaults());
  }

  /**
   * Makes a group without some ranks. It is the only operation that still works in a failed group.
   * All ranks that remain call it, with the same arguments. This group must still be closed. The
   * new group has the checkpoints of this one.
   *
   * @param excludedGroupRanks at least one, as ranks of <b>this group</b>, not global ranks
   * @param mode what happens to pending operations of this group
   * @param options of the new group; they name no ranks
   * @throws IllegalArgumentException if a rank is named twice or is not in this group, if this rank
   *     is excluded, or if other ranks exclude others
   */
  ProcessGroup shrink(int[] excludedGroupRanks, ShrinkMode mode, GroupOptions options);

  /**
   * Returns the open groups that were made from this one on this rank, the oldest first.
   *
   * @return views, see {@link #group}
   */
  List<ProcessGroup> groups();

  /**
   * Returns this group, or one that was made from it on this rank, directly or not.
   *
   * @param name see {@link GroupMembers#name()}
   * @return a view, which owns nothing: closing it does nothing, and only what {@link #newGroup}
   *     and its like returned closes the group. It equals every other handle of that group
   * @throws IllegalArgumentException if no open group has that name
   */
  ProcessGroup group(String name);
}
