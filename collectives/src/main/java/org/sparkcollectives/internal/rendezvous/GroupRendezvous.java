package org.sparkcollectives.internal.rendezvous;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.failure.FailedRendezvous;
import org.sparkcollectives.spi.failure.RankIdentity;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreTimeoutException;
import org.sparkcollectives.store.WatchableStore;

/**
 * The rendezvous of a group in a store: each rank writes its endpoint, and the last to arrive
 * combines all endpoints into one value, for which all ranks wait.
 *
 * <p>A rank makes four requests, whatever the size of the group, and receives the endpoint table;
 * the last one makes two more, one of which brings it all endpoints. If that one hangs before it
 * has written, another does so in its place: the heartbeats of the group then name it. A rank that
 * is known not to come is told to all in the same place, see {@link FailedRendezvous}.
 */
public final class GroupRendezvous {

  private static final int SECRET_BYTES = 32;

  /** The interval at which a waiting rank checks whether it was killed. */
  private static final Duration KILL_CHECK = Duration.ofMillis(20);

  /**
   * The least interval for each rank, for groups so large that the checks would be most of a JVM's
   * work.
   */
  private static final Duration KILL_CHECK_PER_RANK = Duration.ofNanos(200_000);

  /**
   * The time that a rank that was killed with its stage waits for the first cause. It is longer
   * than in a group, which has more ways to learn of it.
   */
  private static final Duration SETTLE = Duration.ofMillis(500);

  /**
   * The time after which a rank first checks whether the endpoint table is only missing because its
   * writer hangs.
   */
  private static final Duration FIRST_LOOK = Duration.ofSeconds(1);

  private static final byte[] ABSENT = {};

  private final Store store;
  private final Deadline deadline;
  private final String name;
  private final int size;
  private final AgreedSettings terms;
  private final RankContext context;

  /**
   * Creates the rendezvous of a group that does not exist yet.
   *
   * @param store where the ranks meet, of the group alone
   * @param deadline by which all are to have met
   * @param terms what the ranks must have alike
   */
  public GroupRendezvous(
      Store store,
      Deadline deadline,
      String name,
      int size,
      AgreedSettings terms,
      RankContext context) {
    this.store = deadline.bound(store);
    this.deadline = deadline;
    this.name = name;
    this.size = size;
    this.terms = terms;
    this.context = context;
  }

  /**
   * Joins as the rank that {@code self} names. Blocks until all ranks have joined, until the
   * deadline at the most; wakes when the rank is killed.
   *
   * @param description what the group is for
   * @throws IllegalArgumentException if the ranks differ in what they must have alike
   * @throws org.sparkcollectives.PeerFailedException if a rank ended without joining, see {@link
   *     FailedRendezvous}
   * @throws CollectiveTimeoutException naming the ranks that did not arrive
   * @throws StoreConnectionException if the store does not answer, so that they are not known
   */
  public Membership join(Endpoint self, String description) {
    try {
      agree(self);
      take(self);
      if (store.add(FailedRendezvous.FOLDER + "/joined", 1) == size) {
        writeEndpoints();
      }
    } catch (StoreConnectionException e) {
      throw unreachable(self, e);
    }
    EndpointTable table = awaitEndpoints(self);
    return new Membership(name, description, self.rank(), table.endpoints(), table.secret());
  }

  /** Writes the endpoint table, unless another rank has written it. */
  private void writeEndpoints() {
    store.compareSet(FailedRendezvous.OUTCOME_KEY, ABSENT, table().encode());
  }

  private List<String> keys() {
    List<String> keys = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      keys.add(key(rank));
    }
    return keys;
  }

  /**
   * Returns the table of the endpoints of all ranks, which must all be there, with a new random
   * secret.
   */
  private EndpointTable table() {
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    return new EndpointTable(
        secret, store.multiGet(keys()).stream().map(EndpointCodec::decode).toList());
  }

  private void agree(Endpoint self) {
    byte[] mine = terms.encode();
    byte[] agreed = store.compareSet(FailedRendezvous.SETTINGS_KEY, ABSENT, mine);
    if (!Arrays.equals(agreed, mine)) {
      throw new IllegalArgumentException(
          "Rank "
              + self.rank()
              + " joins group \""
              + name
              + "\" "
              + terms.difference(agreed, "did")
              + ". All ranks must give the same");
    }
  }

  private void take(Endpoint self) {
    byte[] mine = unique(EndpointCodec.encode(self));
    byte[] taken = store.compareSet(key(self.rank()), ABSENT, mine);
    if (!Arrays.equals(taken, mine)) {
      throw new IllegalArgumentException(
          "Rank "
              + self.rank()
              + " of group \""
              + name
              + "\" is taken already, by "
              + EndpointCodec.decode(taken).describe()
              + ". Each rank joins once, and a group's name is never used again");
    }
  }

  /**
   * Makes a claim unique, so that two ranks of one process cannot take each other's claim for their
   * own.
   */
  private static byte[] unique(byte[] endpoint) {
    byte[] claim = Arrays.copyOf(endpoint, endpoint.length + Long.BYTES);
    ByteBuffer.wrap(claim).putLong(endpoint.length, ThreadLocalRandom.current().nextLong());
    return claim;
  }

  private EndpointTable awaitEndpoints(Endpoint self) {
    long start = System.nanoTime();
    CompletableFuture<byte[]> watch =
        store instanceof WatchableStore watchable
            ? watchable.watch(FailedRendezvous.OUTCOME_KEY)
            : null;
    CountDownLatch come = new CountDownLatch(1);
    if (watch != null) {
      watch.whenComplete((table, cause) -> come.countDown());
    }
    Duration patience = killCheck();
    long nextLook = FIRST_LOOK.toNanos();
    try {
      while (!hasCome(watch, come, patience)) {
        if (context.isKilled()) {
          throw killed(self, watch, come);
        }
        long waited = System.nanoTime() - start;
        if (waited > nextLook) {
          // The checks become rarer, because in a large group all ranks make them.
          nextLook = 2 * waited;
          if (store.check(keys())) {
            writeEndpoints();
          }
        }
        if (deadline.isOver()) {
          throw timedOut(self);
        }
      }
      byte[] outcome = read(watch);
      Failure failure = FailedRendezvous.decode(outcome);
      if (failure != null) {
        throw failed(self, failure);
      }
      return EndpointTable.decode(outcome);
    } catch (InterruptedException e) {
      CollectiveException cause =
          context.isKilled()
              ? killed(self, watch, come)
              : new GroupAbortedException(
                  "Interrupted while waiting for the other ranks of group \"" + name + "\"", e);
      Thread.currentThread().interrupt();
      throw cause;
    } catch (StoreConnectionException e) {
      throw unreachable(self, e);
    } finally {
      if (watch != null) {
        watch.cancel(false);
      }
    }
  }

  private Duration killCheck() {
    Duration scaled = KILL_CHECK_PER_RANK.multipliedBy(size);
    return scaled.compareTo(KILL_CHECK) > 0 ? scaled : KILL_CHECK;
  }

  /**
   * Returns the exception of a killed rank, with the first cause if it was stopped because of
   * another's failure.
   */
  private CollectiveException killed(
      Endpoint self, CompletableFuture<byte[]> watch, CountDownLatch come) {
    try {
      if (context.isStoppedWithOthers() && hasCome(watch, come, SETTLE)) {
        Failure failure = FailedRendezvous.decode(read(watch));
        if (failure != null) {
          return failed(self, failure);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (StoreException | IllegalStateException e) {
      // The store was closed with the stage, so nothing more is known than that this rank was
      // killed.
    }
    return new GroupAbortedException(
        "Rank "
            + self.rank()
            + " was killed while it waited for the other ranks of group \""
            + name
            + "\": "
            + context.killReason(),
        null);
  }

  private CollectiveException failed(Endpoint self, Failure failure) {
    RankIdentity identity =
        new RankIdentity(name, self.rank(), self.host(), self.executorId(), self.taskAttemptId());
    return identity.exceptionAfter("The rendezvous", failure);
  }

  private boolean hasCome(CompletableFuture<byte[]> watch, CountDownLatch come, Duration patience)
      throws InterruptedException {
    try {
      if (watch != null) {
        return come.await(patience.toNanos(), TimeUnit.NANOSECONDS);
      }
      store.waitFor(List.of(FailedRendezvous.OUTCOME_KEY), patience);
      return true;
    } catch (StoreTimeoutException e) {
      return false;
    }
  }

  private byte[] read(CompletableFuture<byte[]> watch) {
    try {
      return watch == null ? store.get(FailedRendezvous.OUTCOME_KEY) : watch.join();
    } catch (CancellationException e) {
      throw new IllegalStateException("The store was closed during the rendezvous", e);
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreException lost) {
        throw lost;
      }
      throw new CollectiveException(
          "The rendezvous of group \"" + name + "\" failed: " + e.getCause(), e.getCause());
    }
  }

  private CollectiveTimeoutException timedOut(Endpoint self) {
    Set<String> said;
    try {
      said = Set.copyOf(store.withPrefix(FailedRendezvous.FOLDER).listKeys());
    } catch (StoreException e) {
      throw unreachable(self, e);
    }
    List<Integer> missing = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      if (!said.contains(String.valueOf(rank))) {
        missing.add(rank);
      }
    }
    return new CollectiveTimeoutException(
        "The rendezvous of group \""
            + name
            + "\" timed out on "
            + self.describe()
            + " after "
            + deadline.total().toMillis() / 1000.0
            + " s: "
            + missing.size()
            + " of "
            + size
            + " ranks have not arrived: "
            + first(missing)
            + (missing.isEmpty() ? ", but the last to arrive has not said so, or is gone" : "")
            + ". Raise the smaller one of the group's timeout and spark.collectives.store.timeout"
            + " only if they are expected to be this slow",
        "rendezvous",
        -1,
        missing);
  }

  private StoreConnectionException unreachable(Endpoint self, StoreException cause) {
    return new StoreConnectionException(
        "The rendezvous of group \""
            + name
            + "\" failed on "
            + self.describe()
            + ", because its store cannot be reached, so which of the "
            + size
            + " ranks are missing is not known: "
            + cause.getMessage(),
        cause);
  }

  /** Returns the first ranks, as many as are readable; the exception has them all. */
  private static String first(List<Integer> ranks) {
    int shown = 20;
    return ranks.size() <= shown
        ? ranks.toString()
        : ranks.subList(0, shown) + " and " + (ranks.size() - shown) + " more";
  }

  private static String key(int rank) {
    return FailedRendezvous.FOLDER + "/" + rank;
  }
}
