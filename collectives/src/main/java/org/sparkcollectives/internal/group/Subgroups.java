package org.sparkcollectives.internal.group;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.sparkcollectives.BackendConfig;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.internal.algorithm.CostProfile;
import org.sparkcollectives.internal.engine.CollectiveNode;
import org.sparkcollectives.internal.engine.NodeOptions;
import org.sparkcollectives.internal.failure.ClosingTime;
import org.sparkcollectives.internal.rendezvous.AgreedSettings;
import org.sparkcollectives.internal.rendezvous.GroupSecret;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;

/**
 * The groups that a rank has made from a group.
 *
 * <p>A rank knows where all others are, and so can make its part of a new group alone: the members
 * are some of the parent's, and the secret is derived from the parent's. The first to come connects
 * to a port at which the others are expected.
 *
 * <p>Only the name needs agreement. It is the parent's with a number that each rank counts for
 * itself, once its arguments are known to be valid, whether or not the group is made. So ranks on
 * which it failed go on with the same number as all others. The ranks compare their members and
 * {@link AgreedSettings} in the store.
 */
final class Subgroups {

  /** Assembles this rank's part of groups. */
  interface Assembly {

    /** Returns what hosts the rank. */
    RankContext context();

    /** Returns the figures by which the groups of this rank choose algorithms. */
    CostProfile costs();

    /**
     * Returns the assembly for groups made from a group of this one, which {@code name} tells
     * apart.
     */
    Assembly within(String name);

    /**
     * Makes this rank's part of a group whose ranks meet in another store. Blocks until all have
     * come.
     *
     * @param options which leave nothing open
     * @param afterClose run when the group is closed
     */
    RankGroup meet(Store other, int rank, int size, GroupOptions options, Runnable afterClose);

    /**
     * Returns where the checkpoints of these groups are, apart from those of groups that were made
     * in another way. Blocks until the deadline at the most.
     */
    Store checkpoints(Deadline deadline);

    /**
     * Assembles this rank's part of a group. Does not wait for other ranks, unless a backend of
     * another provider does.
     *
     * @param node is released when the group is closed
     * @param options which leave nothing open
     * @param parent the monitor of the group from which it is made, or null
     * @param origin how it came from another, or null
     * @param afterClose run when the group is closed
     */
    RankGroup assemble(
        CollectiveNode node,
        Membership members,
        GroupOptions options,
        GroupMonitor parent,
        GroupOrigin origin,
        Runnable afterClose);
  }

  private static final byte[] ABSENT = {};

  private final Membership parent;
  private final GroupOptions parentOptions;
  private final GroupMonitor parentLife;
  private final Backends parentBackends;
  private final Store parentStore;
  private final Assembly assembly;
  private final Map<String, Integer> counters = new HashMap<>();
  private final List<RankGroup> open = new ArrayList<>();
  private boolean closed;

  Subgroups(
      Membership parent,
      GroupOptions parentOptions,
      GroupMonitor parentLife,
      Backends parentBackends,
      Store parentStore,
      Assembly assembly) {
    this.parent = parent;
    this.parentOptions = parentOptions;
    this.parentLife = parentLife;
    this.parentBackends = parentBackends;
    this.parentStore = parentStore;
    this.assembly = assembly;
  }

  /**
   * Makes this rank's part of a group when all ranks of the parent call.
   *
   * @param kind what the numbers of such groups are counted by, and a part of the name
   * @param ranks the members, as ranks of the parent
   * @return null where this rank is no member
   */
  RankGroup createTogether(String kind, List<Integer> ranks, GroupOptions options) {
    String name = parent.name() + "/" + numbered(kind) + suffix(options);
    agree(name, ranks, options);
    return create(name, ranks, options, allAtOnce(0));
  }

  /**
   * Makes this rank's part of the group that goes on when others have left the parent. All ranks
   * that remain call. It has the parent's checkpoints.
   *
   * @param ranks the members, as ranks of the parent
   */
  RankGroup createRemaining(List<Integer> ranks, GroupOptions options) {
    String name = parent.name() + "/" + numbered("shrink") + suffix(options);
    agree(name, ranks, options);
    List<Integer> excluded = new ArrayList<>();
    for (int rank = 0; rank < parent.size(); rank++) {
      if (!ranks.contains(rank)) {
        excluded.add(rank);
      }
    }
    return create(name, ranks, options, assembly, new GroupOrigin(parentBackends, -1, excluded));
  }

  /**
   * Makes this rank's part of one of several groups when all ranks of the parent call at once.
   *
   * @return null where this rank is no member of any
   */
  RankGroup createOneOf(String kind, List<List<Integer>> groups, GroupOptions options) {
    String name = parent.name() + "/" + numbered(kind);
    agree(name, groups, options);
    for (int i = 0; i < groups.size(); i++) {
      if (groups.get(i).contains(parent.rank())) {
        return create(name + "-" + i + suffix(options), groups.get(i), options, allAtOnce(i));
      }
    }
    takePartInSplit(options);
    return null;
  }

  /** Returns a digest of those options of a group that all ranks must give alike. */
  long termsOf(GroupOptions options) {
    AgreedSettings terms =
        AgreedSettings.ofMembers(List.of(), ResolvedOptions.inherit(options, parentOptions));
    byte[] digest = GroupSecret.derive(terms.encode(), "terms");
    return ByteBuffer.wrap(digest).getLong();
  }

  private void takePartInSplit(GroupOptions options) {
    parentBackends.takePartInSplit(
        BackendConfig.parse(
            ResolvedOptions.inherit(options, parentOptions).backend().orElseThrow()),
        parentOptions.timeout().orElseThrow());
  }

  /**
   * Makes this rank's part of one of several groups whose members its ranks have agreed on already.
   *
   * @param color tells the groups of one call apart
   * @return null where this rank is no member
   */
  RankGroup createAgreed(String kind, int color, List<Integer> ranks, GroupOptions options) {
    String name = parent.name() + "/" + numbered(kind) + "-" + color + suffix(options);
    return create(name, ranks, options, allAtOnce(color));
  }

  /**
   * Makes this rank's part of a group when only its members call.
   *
   * @return null where this rank is no member
   */
  RankGroup createLocally(String kind, List<Integer> ranks, GroupOptions options) {
    if (!ranks.contains(parent.rank())) {
      return null;
    }
    String members = kind + "-" + digest(ranks);
    return create(parent.name() + "/" + numbered(members) + suffix(options), ranks, options, null);
  }

  /**
   * Makes this rank's part of a group of all ranks of the parent and of other groups, which meet in
   * a store. Blocks until all have come.
   */
  RankGroup createMerged(Store store, int rank, int size, GroupOptions options) {
    GroupOptions resolved = ResolvedOptions.inherit(options, parentOptions);
    RankGroup[] group = new RankGroup[1];
    group[0] = assembly.meet(store, rank, size, resolved, () -> forget(group[0]));
    return keep(group[0]);
  }

  /**
   * Returns the ranks as text if it is short, else a digest of them. It is the same in each
   * attempt, because the names of the group's checkpoints contain it.
   */
  private static String digest(List<Integer> ranks) {
    String text = String.join("-", ranks.stream().map(String::valueOf).toList());
    return text.length() <= 40
        ? text
        : HexFormat.of()
            .formatHex(
                GroupSecret.derive(text.getBytes(StandardCharsets.US_ASCII), "ranks"), 0, 16);
  }

  private static String suffix(GroupOptions options) {
    return options.name().isEmpty() ? "" : "/" + options.name();
  }

  private synchronized String numbered(String kind) {
    return kind + "-" + counters.merge(kind, 1, Integer::sum);
  }

  private void agree(String name, List<?> ranks, GroupOptions options) {
    GroupOptions resolved = ResolvedOptions.inherit(options, parentOptions);
    AgreedSettings terms = AgreedSettings.ofMembers(ranks, resolved);
    Store store = Deadline.after(resolved.timeout().orElseThrow()).bound(parentStore);
    byte[] mine = terms.encode();
    byte[] agreed = store.compareSet("subgroups/" + name, ABSENT, mine);
    if (Arrays.equals(agreed, mine)) {
      forgetAgreement(store, name);
    } else {
      throw new IllegalArgumentException(
          "Rank "
              + parent.rank()
              + " makes group \""
              + name
              + "\" "
              + terms.difference(agreed, "made it")
              + ". All ranks of \""
              + parent.name()
              + "\" must make the same groups in the same order");
    }
  }

  /** Removes what was agreed on, if this rank is the last to agree. */
  private void forgetAgreement(Store store, String name) {
    if (store.add("subgroups-agreed/" + name, 1) == parent.size()) {
      store.deleteKeys(List.of("subgroups/" + name, "subgroups-agreed/" + name));
    }
  }

  /**
   * Returns the origin of groups for which all ranks of the parent call, {@code color} being the
   * group's index among them.
   */
  private GroupOrigin allAtOnce(int color) {
    return new GroupOrigin(parentBackends, color, List.of());
  }

  private RankGroup create(
      String name, List<Integer> ranks, GroupOptions options, GroupOrigin origin) {
    String own = name.substring(parent.name().length() + 1);
    return create(name, ranks, options, assembly.within(own), origin);
  }

  private RankGroup create(
      String name, List<Integer> ranks, GroupOptions options, Assembly from, GroupOrigin origin) {
    Membership.requireName(name);
    int rank = ranks.indexOf(parent.rank());
    if (rank < 0) {
      takePartInSplit(options);
      return null;
    }
    List<Endpoint> endpoints = ranks.stream().map(parent.endpoints()::get).toList();
    Membership members =
        new Membership(
            name,
            options.description(),
            rank,
            endpoints,
            GroupSecret.derive(parent.secret(), "subgroup " + name));
    CollectiveNode node = CollectiveNode.acquire(NodeOptions.of(assembly.context()));
    RankGroup[] group = new RankGroup[1];
    try {
      group[0] =
          from.assemble(
              node,
              members,
              ResolvedOptions.inherit(options, parentOptions),
              parentLife,
              origin,
              () -> forget(group[0]));
    } finally {
      if (group[0] == null) {
        node.release();
      }
    }
    return keep(group[0]);
  }

  private RankGroup keep(RankGroup group) {
    synchronized (this) {
      if (!closed) {
        open.add(group);
        return group;
      }
    }
    group.close(ClosingTime.of(Duration.ZERO));
    throw new IllegalStateException(
        "Group \""
            + parent.name()
            + "\" was closed while \""
            + group.name()
            + "\" was made from it");
  }

  private synchronized void forget(RankGroup group) {
    open.remove(group);
  }

  /** Returns the open groups, in the order in which they were made. */
  synchronized List<RankGroup> open() {
    return List.copyOf(open);
  }

  /** Calls {@code each} for the open groups, the last first. */
  private void forEachFromTheLast(Consumer<RankGroup> each) {
    List<RankGroup> groups = open();
    for (int i = groups.size() - 1; i >= 0; i--) {
      each.accept(groups.get(i));
    }
  }

  /** Ends all groups on every rank. */
  void abort(Throwable cause) {
    forEachFromTheLast(group -> group.abort(cause));
  }

  /** Closes all groups within the time that their parent has; no more can be made. */
  void close(ClosingTime time) {
    synchronized (this) {
      closed = true;
    }
    forEachFromTheLast(group -> group.close(time));
  }
}
