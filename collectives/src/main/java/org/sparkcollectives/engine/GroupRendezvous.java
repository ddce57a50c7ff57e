package org.sparkcollectives.engine;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreTimeoutException;
import org.sparkcollectives.store.WatchableStore;
import org.sparkcollectives.transport.Endpoint;

/**
 * How the ranks of a group find each other in a store: each says where it is, the last to arrive
 * says that all are there, and each reads where the others are.
 */
final class GroupRendezvous {

  private static final int SECRET_BYTES = 32;

  /** How long a killed rank may sleep on. */
  private static final Duration KILL_CHECK = Duration.ofMillis(20);

  private static final String COMPLETE = "rendezvous/complete";
  private static final byte[] ABSENT = {};

  private final Store store;
  private final String name;
  private final String description;
  private final int size;
  private final RankContext context;

  GroupRendezvous(Store store, String name, String description, int size, RankContext context) {
    this.store = store;
    this.name = name;
    this.description = description;
    this.size = size;
    this.context = context;
  }

  /**
   * Joins as the rank that {@code self} names. Blocks until all ranks have joined, for the store's
   * timeout at the most; wakes when the rank is killed.
   *
   * @throws CollectiveTimeoutException naming the ranks that did not arrive
   */
  Membership join(Endpoint self) {
    agreeOnSize(self);
    take(self);
    if (self.rank() == 0) {
      byte[] secret = new byte[SECRET_BYTES];
      new SecureRandom().nextBytes(secret);
      store.set("rendezvous/secret", secret);
    }
    if (store.add("rendezvous/joined", 1) == size) {
      store.set(COMPLETE, ABSENT);
    }
    awaitAll(self);
    List<String> keys = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      keys.add(key(rank));
    }
    List<Endpoint> endpoints = store.multiGet(keys).stream().map(EndpointCodec::decode).toList();
    return new Membership(
        name, description, self.rank(), endpoints, store.get("rendezvous/secret"));
  }

  private void agreeOnSize(Endpoint self) {
    byte[] mine = Integer.toString(size).getBytes(StandardCharsets.UTF_8);
    byte[] agreed = store.compareSet("rendezvous/size", ABSENT, mine);
    if (!Arrays.equals(agreed, mine)) {
      throw new IllegalArgumentException(
          "Rank "
              + self.rank()
              + " joins group \""
              + name
              + "\" with a world size of "
              + size
              + ", but another rank did with "
              + new String(agreed, StandardCharsets.UTF_8)
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

  /** Two ranks of one process must not take each other's claim for their own. */
  private static byte[] unique(byte[] endpoint) {
    byte[] claim = Arrays.copyOf(endpoint, endpoint.length + Long.BYTES);
    ByteBuffer.wrap(claim).putLong(endpoint.length, ThreadLocalRandom.current().nextLong());
    return claim;
  }

  private void awaitAll(Endpoint self) {
    long start = System.nanoTime();
    CompletableFuture<byte[]> complete =
        store instanceof WatchableStore watchable ? watchable.watch(COMPLETE) : null;
    try {
      while (!arrived(complete)) {
        if (context.isKilled()) {
          throw new GroupAbortedException(
              "Rank "
                  + self.rank()
                  + " was killed while it waited for the other ranks of group \""
                  + name
                  + "\": "
                  + context.killReason(),
              null);
        }
        if (System.nanoTime() - start > store.timeout().toNanos()) {
          throw timedOut(self);
        }
      }
    } finally {
      if (complete != null) {
        complete.cancel(false);
      }
    }
  }

  private boolean arrived(CompletableFuture<byte[]> complete) {
    try {
      if (complete == null) {
        store.waitFor(List.of(COMPLETE), KILL_CHECK);
      } else {
        complete.get(KILL_CHECK.toMillis(), TimeUnit.MILLISECONDS);
      }
      return true;
    } catch (StoreTimeoutException | TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GroupAbortedException(
          "Interrupted while waiting for the other ranks of group \"" + name + "\"", e);
    } catch (CancellationException e) {
      throw new IllegalStateException("The store was closed during the rendezvous", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof StoreException lost) {
        throw lost;
      }
      throw new CollectiveException(
          "The rendezvous of group \"" + name + "\" failed: " + e.getCause(), e.getCause());
    }
  }

  private CollectiveTimeoutException timedOut(Endpoint self) {
    List<Integer> missing = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      if (!store.check(List.of(key(rank)))) {
        missing.add(rank);
      }
    }
    return new CollectiveTimeoutException(
        "The rendezvous of group \""
            + name
            + "\" timed out on "
            + self.describe()
            + " after "
            + store.timeout().toMillis() / 1000.0
            + " s: "
            + missing.size()
            + " of "
            + size
            + " ranks have not arrived: "
            + first(missing)
            + ". Raise spark.collectives.store.timeout only if they are expected to be this slow",
        "rendezvous",
        -1,
        missing);
  }

  /** As many as one can read; the exception has them all. */
  private static String first(List<Integer> ranks) {
    int shown = 20;
    return ranks.size() <= shown
        ? ranks.toString()
        : ranks.subList(0, shown) + " and " + (ranks.size() - shown) + " more";
  }

  private static String key(int rank) {
    return "rendezvous/" + rank;
  }
}
