package org.sparkcollectives.internal.group;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.failure.FailedRendezvous;
import org.sparkcollectives.spi.failure.PublishedFailure;
import org.sparkcollectives.spi.failure.RankIdentity;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreLease;

/**
 * One attempt to make the next group of a {@link ReconfigurableRank}.
 *
 * <p>Two keys of the number keep a group from being made of ranks that mean different ones: the new
 * rank 0 claims the number, as in c10d, and the first rank that comes leaves its list of handles,
 * with which each other compares its own. They stay when the group is gone, so no number is used
 * twice. Then the ranks meet as those of any first group do. One value in the store decides how
 * that ends, the endpoint table or a failure, so a rank that gives up writes its failure there. If
 * the table was first, the others are in a group that this rank is not in, and get the failure
 * there.
 */
final class Reconfiguration {

  private static final String OPERATION = "reconfigure";
  private static final byte[] ABSENT = {};

  /** How long a rank that gives up takes to tell the others. */
  private static final Duration TELLING = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(Reconfiguration.class);

  private final GroupAssembly assembly;
  private final StoreLease lease;
  private final String family;
  private final long uuid;
  private final CompletableFuture<Void> done = new CompletableFuture<>();
  private volatile RuntimeException ended;

  /**
   * Creates an attempt that has not begun.
   *
   * @param assembly of the group that changes
   * @param family the name of that group
   */
  Reconfiguration(GroupAssembly assembly, String family, long uuid) {
    this.assembly = assembly.within("reconfigured-" + uuid);
    this.lease = StoreLease.of(assembly.store());
    this.family = family;
    this.uuid = uuid;
  }

  /**
   * Makes the group. Blocks until all members have come, for {@code timeout} or that of the store
   * at the most.
   *
   * @param members by new rank
   * @param self this rank's handle, one of them
   */
  RankGroup make(
      List<ReconfigureHandle> members,
      ReconfigureHandle self,
      ReconfigureArguments arguments,
      GroupOptions options,
      Duration timeout) {
    int rank = members.indexOf(self);
    Deadline deadline = Deadline.after(Deadline.smaller(timeout, lease.store().timeout()));
    boolean agreed = false;
    try {
      agree(deadline.bound(lease.store()), members, rank, arguments);
      agreed = true;
      return FirstGroup.make(
          assembly,
          lease.store(),
          rank,
          members.size(),
          options.withName(name()),
          deadline,
          () -> {});
    } catch (RuntimeException e) {
      RuntimeException thrown = ended == null ? e : ended;
      if (thrown != e) {
        thrown.addSuppressed(e);
      }
      tellOthers(rank, thrown, agreed);
      throw thrown;
    } catch (Error e) {
      tellOthers(rank, e, agreed);
      throw e;
    }
  }

  private String name() {
    return family + "/reconfigured-" + uuid;
  }

  private void agree(
      Store store, List<ReconfigureHandle> members, int rank, ReconfigureArguments arguments) {
    Store keys = store.withPrefix(family).withPrefix(OPERATION + "/" + uuid);
    if (rank == 0) {
      byte[] claim =
          ByteBuffer.allocate(2 * Long.BYTES)
              .putLong(ThreadLocalRandom.current().nextLong())
              .putLong(ThreadLocalRandom.current().nextLong())
              .array();
      if (!Arrays.equals(keys.compareSet("claimed", ABSENT, claim), claim)) {
        throw arguments.used(uuid);
      }
    }
    String mine = digest(members);
    byte[] said = (mine + " of " + members.get(rank)).getBytes(StandardCharsets.UTF_8);
    String first = new String(keys.compareSet("members", ABSENT, said), StandardCharsets.UTF_8);
    if (!first.startsWith(mine + " ")) {
      throw arguments.others(mine, first);
    }
  }

  private static String digest(List<ReconfigureHandle> members) {
    try {
      byte[] list = members.toString().getBytes(StandardCharsets.UTF_8);
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(list);
      return members.size() + " handles (" + HexFormat.of().formatHex(hash, 0, 8) + ")";
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every JVM has SHA-256", e);
    }
  }

  /** Ends the attempt, whose thread then throws {@code cause}. Does not block. */
  void end(RuntimeException cause) {
    if (ended == null) {
      ended = cause;
      lease.revoke(new StoreException(cause.getMessage()));
    }
  }

  /** Returns why the attempt was ended by another thread; null if it was not. */
  RuntimeException ended() {
    return ended;
  }

  /** Notes that the attempt's thread is done with it. */
  void finish() {
    done.complete(null);
  }

  /**
   * Waits until the attempt's thread is done with it; an interrupt does not end the wait.
   *
   * @return false if it is not done within {@code limit}
   */
  boolean await(Duration limit) {
    try {
      done.copy().orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS).join();
      return true;
    } catch (CompletionException e) {
      return false;
    }
  }

  /**
   * Tells the others that this rank will not be in the group. Blocks for a few calls of the store.
   */
  private void tellOthers(int rank, Throwable thrown, boolean agreed) {
    if (thrown instanceof PeerFailedException) {
      return; // That is what the others find.
    }
    // Its place in its own list is nobody's in the list that the others agree on.
    Failure failure = failure(agreed ? rank : -1, thrown);
    Store keys = Deadline.after(TELLING).bound(assembly.store()).withPrefix(name());
    try {
      if (!FailedRendezvous.publish(keys, failure) && agreed) {
        new PublishedFailure(keys).offer(failure);
      }
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("Rank {} of \"{}\" could not tell that it gave up: {}", rank, name(), e.toString());
    }
  }

  private Failure failure(int rank, Throwable thrown) {
    if (thrown instanceof CollectiveTimeoutException late && late.missingRanks().length > 0) {
      RankLocation missing = new RankLocation(late.missingRanks()[0], "unknown", "unknown", -1);
      return new Failure(Failure.Kind.TIMEOUT, missing, OPERATION, -1, thrown.getMessage());
    }
    RankContext context = assembly.context();
    RankIdentity self =
        new RankIdentity(
            name(), rank, context.bindHost(), context.executorId(), context.taskAttemptId());
    return self.failure(kind(thrown), OPERATION, -1, thrown);
  }

  private Failure.Kind kind(Throwable thrown) {
    if (assembly.context().isKilled()) {
      return Failure.Kind.KILLED;
    }
    return thrown instanceof IllegalStateException
        ? Failure.Kind.PEER_FINISHED
        : Failure.Kind.EXCEPTION;
  }

  /** Returns what a member throws whose group was aborted while it made the next one. */
  static CollectiveException aborted(String family, int rank, Throwable cause) {
    return new GroupAbortedException(
        "reconfigure of group \""
            + family
            + "\" on rank "
            + rank
            + " was aborted: "
            + cause.getMessage()
            + ". Reconfigure again, with another uuid",
        cause);
  }
}
