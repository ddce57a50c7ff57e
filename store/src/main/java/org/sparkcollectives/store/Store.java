package org.sparkcollectives.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * A key-value store through which the ranks of a group find each other.
 *
 * <p>Keys are strings, values are bytes. A store is a handle: several handles, in several
 * processes, may look at the same data. Each handle has its own {@link #timeout()}, which bounds
 * every blocking call of this interface. Views made by {@link #withTimeout} and {@link #withPrefix}
 * share the data and own nothing, so closing a view does nothing.
 *
 * <p>Any number of threads may call every method at once. A blocking call ends when the condition
 * holds, when the timeout passes ({@link StoreTimeoutException}), when the calling thread is
 * interrupted ({@link StoreException}, the interrupt flag stays set), when the handle is closed
 * ({@link IllegalStateException}), or when the other side is lost ({@link
 * StoreConnectionException}). Values are copied on the way in and out.
 *
 * <p>The semantics are those of c10d's {@code Store} in PyTorch; where that one truncates silently
 * or drops the connection, this one throws.
 */
public interface Store extends AutoCloseable {

  /**
   * The largest value in bytes that a store accepts, 2046 MiB: nearly as large as an array can be.
   * Some kinds accept less, and say so. A key may be 64 KiB long in UTF-8.
   */
  int MAX_VALUE_BYTES = 2046 << 20;

  /**
   * Stores {@code value} under {@code key}, replacing the old value, and wakes those who wait for
   * the key.
   */
  void set(String key, byte[] value);

  /** Stores {@code value} in UTF-8, as {@link #set(String, byte[])} does. */
  default void set(String key, String value) {
    set(key, value.getBytes(StandardCharsets.UTF_8));
  }

  /** Waits until {@code key} exists and returns its value. */
  byte[] get(String key);

  /**
   * Replaces the value of {@code key} by {@code desired} if it is {@code expected} now.
   *
   * <p>An empty {@code expected} also matches a key that does not exist, which creates it. A
   * non-empty {@code expected} on a missing key changes nothing.
   *
   * @return {@code desired} if it was stored; else the current value, or {@code expected} if the
   *     key does not exist
   */
  byte[] compareSet(String key, byte[] expected, byte[] desired);

  /**
   * Adds {@code amount} to the decimal number that {@code key} holds as text; a missing key counts
   * as 0.
   *
   * @return the sum, which is also what {@link #get} then returns, in decimal
   * @throws StoreException if the value is not a decimal 64-bit integer
   */
  long add(String key, long amount);

  /** Appends {@code value} to the value of {@code key}, creating it if it does not exist. */
  void append(String key, byte[] value);

  /**
   * Waits until all of {@code keys} exist. Returns at once if there are none.
   *
   * @param timeout how long to wait, instead of {@link #timeout()}
   * @throws StoreTimeoutException naming the keys that are missing
   */
  void waitFor(Collection<String> keys, Duration timeout);

  /**
   * Waits until all of {@code keys} exist, for {@link #timeout()} at the most. Returns at once if
   * there are none.
   *
   * @throws StoreTimeoutException naming the keys that are missing
   */
  default void waitFor(Collection<String> keys) {
    waitFor(keys, timeout());
  }

  /** Returns whether all of {@code keys} exist; true if there are none. Does not wait. */
  boolean check(Collection<String> keys);

  /** Removes {@code key}, value or queue, and returns whether it existed. */
  boolean deleteKey(String key);

  /**
   * Removes {@code keys}, values or queues, in one step, and returns how many of them existed. c10d
   * has only {@link #deleteKey}, which takes a request for each key.
   */
  long deleteKeys(Collection<String> keys);

  /**
   * Returns the number of keys in this store; in a view with a prefix, the number of keys under it.
   */
  long numKeys();

  /** Waits until all of {@code keys} exist and returns their values in the same order. */
  List<byte[]> multiGet(List<String> keys);

  /**
   * Stores each value under the key at the same place, in order, in one step.
   *
   * @throws IllegalArgumentException if the lists differ in length; nothing is stored then
   */
  void multiSet(List<String> keys, List<byte[]> values);

  /**
   * Returns the keys of this store in no particular order; in a view with a prefix, without the
   * prefix.
   */
  List<String> listKeys();

  /** Appends {@code value} to the queue {@code key}, creating it if it does not exist. */
  void queuePush(String key, byte[] value);

  /**
   * Takes the oldest value from the queue {@code key}.
   *
   * @param block whether to wait for a value if the queue is empty
   * @throws QueueEmptyException if the queue is empty and {@code block} is false
   */
  byte[] queuePop(String key, boolean block);

  /** Returns the number of values in the queue {@code key}; 0 if it does not exist. */
  long queueLength(String key);

  /**
   * Waits until {@code worldSize} callers have arrived at {@code key}. The key may be used again
   * once all have left.
   *
   * @throws StoreTimeoutException naming the key, and how many of how many arrived
   */
  void barrier(String key, int worldSize, Duration timeout);

  /**
   * Asks the other side for nothing, and returns how long the answer took: the round trip of a
   * call. Blocks until the answer comes, for {@link #timeout()} at the most. Counts as a call of
   * {@link #check}.
   *
   * @throws StoreConnectionException if the other side does not answer
   */
  default Duration ping() {
    long start = System.nanoTime();
    check(List.of());
    return Duration.ofNanos(System.nanoTime() - start);
  }

  /**
   * Returns how many calls this handle has made, its views included, and how long they took. Does
   * not block, and may be called when the handle is closed. A store of one's own that does not
   * count its calls returns {@link StoreStatistics#NONE}.
   */
  default StoreStatistics statistics() {
    return StoreStatistics.NONE;
  }

  /** Returns how long a blocking call of this handle waits at the most; 5 minutes by default. */
  Duration timeout();

  /** Returns a view of this store whose blocking calls wait for {@code timeout} at the most. */
  Store withTimeout(Duration timeout);

  /** Returns a view in which each key {@code k} means {@code prefix + "/" + k} of this store. */
  Store withPrefix(String prefix);

  /** Closes this handle and wakes its blocked calls. Closing again, or a view, does nothing. */
  @Override
  void close();
}
