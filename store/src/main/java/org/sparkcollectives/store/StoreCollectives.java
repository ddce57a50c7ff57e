package org.sparkcollectives.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.sparkcollectives.config.TimeString;

/**
 * Collectives of small values over a {@link Store}, for control messages and for use before there
 * is a group. Everything passes through the store, so the cost grows with the number of ranks.
 *
 * <p>Each operation has a key of its own, the same on all ranks, which a rank uses once; its keys
 * stay in the store. A blocking call waits for {@code timeout} at the most, and then throws {@link
 * StoreTimeoutException} with the missing ranks and their keys; if the store does not answer at
 * all, it throws {@link StoreConnectionException} a second later at the most. Thread-safe. The
 * semantics are those of c10d's {@code StoreCollectives}.
 */
public final class StoreCollectives {

  private static final byte[] ARRIVED = {};

  /** The number of missing ranks that a message names. */
  private static final int SHOWN_RANKS = 32;

  private final Store store;
  private final int rank;
  private final int worldSize;
  private final Set<String> used = ConcurrentHashMap.newKeySet();

  /**
   * Creates the collectives of one rank.
   *
   * @param store one that all ranks see; stays open
   * @param rank which rank this one is, 0 to {@code worldSize - 1}
   */
  public StoreCollectives(Store store, int rank, int worldSize) {
    this.store = Objects.requireNonNull(store, "store");
    if (worldSize < 1 || rank < 0 || rank >= worldSize) {
      throw new IllegalArgumentException(
          "rank must be 0 to world size - 1, but is " + rank + " of " + worldSize);
    }
    this.rank = rank;
    this.worldSize = worldSize;
  }

  /** Announces that this rank has arrived and, if {@code blocking}, waits until all have. */
  public void barrier(String key, Duration timeout, boolean blocking) {
    useOnce(key);
    Store bounded = blocking ? within(timeout) : store;
    bounded.set(key + "/" + rank, ARRIVED);
    if (blocking) {
      naming("barrier", key, timeout, () -> waitFor(bounded, keysOfRanks(key)));
    }
  }

  /** Sends {@code data} to all ranks that call {@link #broadcastRecv}. Does not block. */
  public void broadcastSend(String key, byte[] data) {
    useOnce(key);
    store.set(key + "/sent", data);
  }

  /** Waits for the data that the sending rank passes to {@link #broadcastSend}. */
  public byte[] broadcastRecv(String key, Duration timeout) {
    useOnce(key);
    return naming("broadcast", key, timeout, () -> within(timeout).get(key + "/sent"));
  }

  /** Sends {@code data} to the rank that calls {@link #gatherRecv}. Does not block. */
  public void gatherSend(String key, byte[] data) {
    useOnce(key);
    store.set(key + "/" + rank, data);
  }

  /** Waits for the data of each other rank. The list holds {@code data} for this rank. */
  public List<byte[]> gatherRecv(String key, byte[] data, Duration timeout) {
    useOnce(key);
    List<String> keys = keysOfRanks(key);
    keys.remove(rank);
    List<byte[]> gathered =
        new ArrayList<>(naming("gather", key, timeout, () -> within(timeout).multiGet(keys)));
    gathered.add(rank, data.clone());
    return gathered;
  }

  /**
   * Sends each other rank, which calls {@link #scatterRecv}, its part. Does not block.
   *
   * @param parts one for each rank
   * @return the part of this rank
   */
  public byte[] scatterSend(String key, List<byte[]> parts) {
    if (parts.size() != worldSize) {
      throw new IllegalArgumentException(
          "scatter "
              + KeyText.quote(key)
              + " needs one part for each of "
              + worldSize
              + " ranks, not "
              + parts.size());
    }
    useOnce(key);
    List<String> keys = keysOfRanks(key);
    List<byte[]> others = new ArrayList<>(parts);
    keys.remove(rank);
    others.remove(rank);
    store.multiSet(keys, others);
    return parts.get(rank).clone();
  }

  /** Waits for the part of this rank. */
  public byte[] scatterRecv(String key, Duration timeout) {
    useOnce(key);
    return naming("scatter", key, timeout, () -> within(timeout).get(key + "/" + rank));
  }

  /**
   * Sends {@code data} to all ranks and waits for the data of each. The list is ordered by rank.
   */
  public List<byte[]> allGather(String key, byte[] data, Duration timeout) {
    return exchange("all-gather", key, data, timeout);
  }

  /**
   * Waits until all ranks have sent their numbers. Returns the sum, the same on all ranks.
   *
   * @throws StoreException if the sum does not fit into 64 bits
   */
  public long allSum(String key, long number, Duration timeout) {
    byte[] digits = Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    long sum = 0;
    try {
      for (byte[] each : exchange("sum", key, digits, timeout)) {
        sum = Math.addExact(sum, Long.parseLong(new String(each, StandardCharsets.US_ASCII)));
      }
    } catch (ArithmeticException e) {
      throw new StoreException(
          "The sum " + KeyText.quote(key) + " of all ranks does not fit into 64 bits", e);
    }
    return sum;
  }

  private List<byte[]> exchange(String call, String key, byte[] data, Duration timeout) {
    useOnce(key);
    Store bounded = within(timeout);
    bounded.set(key + "/" + rank, data);
    return naming(call, key, timeout, () -> bounded.multiGet(keysOfRanks(key)));
  }

  /** Returns the store for the steps of a call that begins now, which end together. */
  private Store within(Duration timeout) {
    return Deadline.after(timeout).bound(store.withTimeout(timeout));
  }

  private static List<byte[]> waitFor(Store bounded, List<String> keys) {
    bounded.waitFor(keys);
    return List.of();
  }

  /**
   * Runs {@code wait}; if it times out, throws an exception that names the ranks whose parts are
   * missing.
   */
  private <T> T naming(String call, String key, Duration timeout, Supplier<T> wait) {
    try {
      return wait.get();
    } catch (StoreTimeoutException e) {
      StoreTimeoutException named =
          new StoreTimeoutException(
              call
                  + " "
                  + KeyText.quote(key)
                  + " on rank "
                  + rank
                  + " of "
                  + worldSize
                  + " timed out after "
                  + TimeString.format(timeout)
                  + ": "
                  + missing(key, e.missingKeys()),
              e.missingKeys(),
              timeout);
      named.initCause(e);
      throw named;
    }
  }

  private String missing(String key, List<String> keys) {
    if (keys.equals(List.of(key + "/sent")) || keys.equals(List.of(key + "/" + rank))) {
      return "the rank that sends has not called it";
    }
    List<String> ranks = keys.stream().map(each -> each.substring(key.length() + 1)).toList();
    String shown = String.join(", ", ranks.subList(0, Math.min(SHOWN_RANKS, ranks.size())));
    int more = ranks.size() - SHOWN_RANKS;
    return (ranks.size() == 1 ? "rank " : "ranks ")
        + shown
        + (more > 0 ? " and " + more + " more have" : ranks.size() == 1 ? " has" : " have")
        + " not called it";
  }

  private List<String> keysOfRanks(String key) {
    List<String> keys = new ArrayList<>(Collections.nCopies(worldSize, key));
    for (int i = 0; i < worldSize; i++) {
      keys.set(i, key + "/" + i);
    }
    return keys;
  }

  private void useOnce(String key) {
    if (!used.add(key)) {
      throw new IllegalArgumentException(
          "Key " + KeyText.quote(key) + " has already been used by rank " + rank);
    }
  }
}
