package org.sparkcollectives.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Collectives of small values over a {@link Store}, for control and where there is no group yet;
 * everything passes through the store, so the cost grows with the number of ranks.
 *
 * <p>Each operation has a key of its own, the same on all ranks, which a rank uses once; its keys
 * stay in the store. The calls that block do so for {@code timeout} at the most, and then throw
 * {@link StoreTimeoutException} naming the keys of the ranks that are missing. Thread-safe. The
 * semantics are those of c10d's {@code StoreCollectives}.
 */
public final class StoreCollectives {

  private static final byte[] DONE = {};

  private final Store store;
  private final int rank;
  private final int worldSize;
  private final Set<String> used = ConcurrentHashMap.newKeySet();

  /**
   * The collectives of one rank.
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

  /** Says that this rank has arrived and, if {@code blocking}, waits until all have. */
  public void barrier(String key, Duration timeout, boolean blocking) {
    useOnce(key);
    if (store.add(key + "/arrived", 1) == worldSize) {
      store.set(key + "/all", DONE);
    }
    if (blocking) {
      store.waitFor(List.of(key + "/all"), timeout);
    }
  }

  /** Gives {@code data} to all ranks that call {@link #broadcastRecv}. Does not block. */
  public void broadcastSend(String key, byte[] data) {
    useOnce(key);
    store.set(key + "/sent", data);
  }

  /** Waits for what one rank has given. */
  public byte[] broadcastRecv(String key, Duration timeout) {
    useOnce(key);
    return store.withTimeout(timeout).get(key + "/sent");
  }

  /** Gives {@code data} to the rank that calls {@link #gatherRecv}. Does not block. */
  public void gatherSend(String key, byte[] data) {
    useOnce(key);
    store.set(key + "/" + rank, data);
  }

  /** Waits for what each of the other ranks gives; the list has {@code data} for this one. */
  public List<byte[]> gatherRecv(String key, byte[] data, Duration timeout) {
    useOnce(key);
    List<String> keys = keysOfRanks(key);
    keys.remove(rank);
    List<byte[]> gathered = new ArrayList<>(store.withTimeout(timeout).multiGet(keys));
    gathered.add(rank, data.clone());
    return gathered;
  }

  /**
   * Gives each other rank, which calls {@link #scatterRecv}, its part. Does not block.
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
    return store.withTimeout(timeout).get(key + "/" + rank);
  }

  /** Gives {@code data} to all ranks and waits for what each gives; the list is by rank. */
  public List<byte[]> allGather(String key, byte[] data, Duration timeout) {
    useOnce(key);
    store.set(key + "/" + rank, data);
    return store.withTimeout(timeout).multiGet(keysOfRanks(key));
  }

  /**
   * Waits until all ranks have given their numbers; returns the sum, the same on all.
   *
   * @throws StoreException if the sum does not fit into 64 bits
   */
  public long allSum(String key, long number, Duration timeout) {
    useOnce(key);
    store.add(key + "/sum", number);
    if (store.add(key + "/arrived", 1) == worldSize) {
      store.set(key + "/all", DONE);
    }
    store.waitFor(List.of(key + "/all"), timeout);
    return Long.parseLong(new String(store.get(key + "/sum"), StandardCharsets.US_ASCII));
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
