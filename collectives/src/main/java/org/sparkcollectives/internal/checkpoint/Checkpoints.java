package org.sparkcollectives.internal.checkpoint;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorBytes;
import org.sparkcollectives.store.BoundedStore;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;

/**
 * Keeps tensors of a group's ranks in a store that outlives the group, and restores them.
 *
 * <p>In two phases: all ranks write their parts under a new version; when all have reported that
 * their parts are there, rank 0 commits the version. {@link CheckpointVersions} says why all parts
 * that are read are of one version. Every step is a collective of the group, so a rank that dies in
 * between ends it on all others, as in any other operation.
 */
public final class Checkpoints {

  private static final Logger LOG = LoggerFactory.getLogger(Checkpoints.class);

  private final ProcessGroup group;
  private final Function<Deadline, Store> store;

  /**
   * Creates the checkpoints of a group.
   *
   * @param group whose timeout bounds each call
   * @param store gives, by a deadline, what holds the checkpoints of this group, and of those that
   *     did the same before it
   */
  public Checkpoints(ProcessGroup group, Function<Deadline, Store> store) {
    this.group = group;
    this.store = store;
  }

  private Store reach(RankAgreement ranks) {
    Store[] reached = new Store[1];
    ranks.byAll("reach the store of checkpoints", () -> reached[0] = store.apply(ranks.deadline()));
    return reached[0];
  }

  private static CheckpointVersions versions(String name, Store store, RankAgreement ranks) {
    // The name is encoded, so that it is one element of the key whatever it contains.
    String element = URLEncoder.encode(name, StandardCharsets.UTF_8);
    return new CheckpointVersions(ranks.within(store).withPrefix(element));
  }

  private static long room(Store store) {
    return BoundedStore.freeBytes(store).orElse(Long.MAX_VALUE);
  }

  /** Throws on all ranks if the tensors of all would not fit, before any rank has written. */
  private static void requireRoom(RankAgreement ranks, Store store, long bytes, long room) {
    if (bytes > room) {
      throw new CollectiveException(
          ranks.where()
              + ": the "
              + bytes
              + " bytes of all ranks do not fit; the store has room for "
              + room
              + BoundedStore.of(store).map(bounded -> ": raise " + bounded.limit()).orElse("")
              + ". Nothing was written, and the version before stays");
    }
  }

  /**
   * Keeps {@code tensors}. Blocks until that is done for all ranks.
   *
   * @param replicated whether all ranks have the same values, so that those of rank 0 are kept
   * @see ProcessGroup#checkpoint
   */
  public void save(String name, List<HostTensor> tensors, boolean replicated) {
    RankAgreement ranks =
        new RankAgreement(
            group,
            (replicated ? "replicated checkpoint \"" : "checkpoint \"") + name + "\"",
            replicated ? PartLayout.of(tensors).toString() : "");
    Store reached = reach(ranks);
    boolean writes = !replicated || group.rank() == 0;
    CheckpointVersions versions = versions(name, reached, ranks);
    long[] begun =
        ranks.byRankZero(
            2,
            "begin it",
            () -> new long[] {versions.draw(), room(ranks.within(reached))},
            writes ? TensorBytes.size(tensors) : 0);
    long version = begun[0];
    requireRoom(ranks, reached, begun[2], begun[1]);
    CheckpointPart part = versions.part(group.rank(), version);
    ranks.byAll(
        "write its part",
        () -> {
          if (writes) {
            part.write(tensors);
          }
        },
        () -> cleanUp(ranks, part::remove));
    long previous =
        ranks
            .byRankZero(
                1,
                "commit it",
                () -> new long[] {versions.commit(version, group.size(), replicated).previous()})[
            0];
    CheckpointVersions.Commit kept =
        new CheckpointVersions.Commit(version, previous, group.size(), replicated);
    cleanUp(ranks, () -> versions.removeStale(kept, group.rank(), group.size()));
  }

  /** Removes stale parts. What cannot be removed now is removed later, or with the store. */
  private static void cleanUp(RankAgreement ranks, Runnable removal) {
    try {
      removal.run();
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("{}: what is not needed any more stays: {}", ranks.where(), e.toString());
    }
  }

  /**
   * Overwrites {@code tensors} with those of the latest complete version. Blocks until that is done
   * for all ranks.
   *
   * @return false if there is none; the same on every rank
   * @see ProcessGroup#restore
   */
  public boolean restore(String name, List<HostTensor> tensors) {
    RankAgreement ranks = new RankAgreement(group, "restore of \"" + name + "\"", "");
    CheckpointVersions versions = versions(name, reach(ranks), ranks);
    long[] found = ranks.byRankZero(3, "look for it", () -> numbers(versions.latest()));
    long version = found[0];
    boolean replicated = found[2] == 1;
    if (version == 0) {
      return false;
    }
    if (!replicated && found[1] != group.size()) {
      throw new IllegalStateException(
          ranks.where()
              + ": version "
              + version
              + " was taken by "
              + found[1]
              + " ranks, each of which kept a part of its own; they cannot be dealt to "
              + group.size()
              + ". Restore with as many ranks, or keep what all ranks have in common with"
              + " checkpointReplicated");
    }
    CheckpointPart part = versions.part(replicated ? 0 : group.rank(), version);
    ranks.byAll("find in it what is to be restored", () -> requireSame(part, tensors, version));
    ranks.byAll(
        "read its part",
        () -> {
          if (!replicated || group.rank() == 0) {
            part.read(tensors);
          }
        });
    if (replicated) {
      tensors.forEach(each -> ranks.group().broadcast(each, 0).await());
    }
    return true;
  }

  private static long[] numbers(CheckpointVersions.Commit latest) {
    return latest == null
        ? new long[3]
        : new long[] {latest.version(), latest.ranks(), latest.replicated() ? 1 : 0};
  }

  private static void requireSame(CheckpointPart part, List<HostTensor> tensors, long version) {
    String difference = part.layout().difference(tensors);
    if (!difference.isEmpty()) {
      throw new IllegalArgumentException("version " + version + " does not fit: " + difference);
    }
  }
}
