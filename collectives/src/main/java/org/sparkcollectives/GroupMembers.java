package org.sparkcollectives;

import java.util.List;

/**
 * Describes the members of a {@link ProcessGroup} and where they are.
 *
 * <p>Ranks are group ranks, 0 to {@code size() - 1}, unless a name says {@code global}: the global
 * rank is the rank in the world group that the group came from. No method blocks, and no result
 * changes while the group lives. All may be called at any time, even when the group has failed or
 * is closed.
 */
public interface GroupMembers {

  /**
   * Returns the unique name. That of a world group in Spark consists of its application, stage and
   * attempt; that of a group made from another consists of the other's name, a slash, and a
   * distinguishing part.
   */
  String name();

  /** Returns what the group is for, as its maker said; may be empty. */
  String description();

  /** Returns the rank of the caller in this group. */
  int rank();

  /** Returns the number of ranks in this group. */
  int size();

  /**
   * Returns the rank in the world group of a rank of this group.
   *
   * @throws IllegalArgumentException if {@code groupRank} is not of this group
   */
  int globalRank(int groupRank);

  /**
   * Returns the rank in this group of a rank of the world group.
   *
   * @throws IllegalArgumentException if that rank is not of this group
   */
  int groupRank(int globalRank);

  /** Returns the global rank of each group rank. A copy. */
  int[] globalRanks();

  /**
   * Returns the host of each rank, by group rank: the address under which other ranks reach it. An
   * immutable list.
   */
  List<String> hosts();

  /**
   * Returns this rank's number among the ranks of this group on its host, from 0, in the order of
   * their ranks: c10d's {@code get_node_local_rank}. Ranks are on one host if they can share its
   * memory; containers that cannot see each other's processes count as hosts.
   */
  int localRank();

  /** Returns how many ranks of this group are on this rank's host, itself included. */
  int localSize();
}
