package org.sparkcollectives.internal.liveness;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.WatchableStore;

/**
 * Watches one key of a group's store, or a numbered series of keys, each of which is written once,
 * in order. A store that cannot be watched is polled instead.
 *
 * <p>The listener receives values on a background thread, so it may call the store. It receives the
 * values of a series one after the other. A value for which no thread is available is kept until
 * the next {@link #poll}. Thread-safe.
 */
public final class StoreWatch implements AutoCloseable {

  /** Receives what is written under the watched keys. */
  public interface Listener {

    /**
     * Receives a value, on a background thread. May block.
     *
     * @param number that of the key in its series; 0 for a single key
     */
    void arrived(long number, byte[] value);

    /**
     * Notes that the store is lost, so that no value will arrive any more. Called on a thread of
     * the store; must not block.
     */
    default void lost(Throwable cause) {}
  }

  /**
   * The keys that are watched.
   *
   * @param name the key, or the prefix of the keys of a series
   * @param numbered whether it is a series
   * @param first the number of the first key
   */
  public record Keys(String name, boolean numbered, long first) {

    public static Keys one(String key) {
      return new Keys(key, false, 0);
    }

    public static Keys series(String prefix, long first) {
      return new Keys(prefix, true, first);
    }

    String key(long number) {
      return numbered ? name + number : name;
    }
  }

  private record Arrival(long number, byte[] value) {}

  private final Store store;
  private final Keys keys;
  private final BackgroundCalls background;
  private final PeriodicCall reading;
  private final Listener listener;

  /** The value that arrived while no background thread was available. */
  private final AtomicReference<Arrival> undelivered = new AtomicReference<>();

  private volatile long next;
  private volatile CompletableFuture<byte[]> watch;
  private volatile boolean closed;

  /**
   * Creates a watch, which starts with {@link #open}.
   *
   * @param period how often {@link #poll} reads from a store that cannot be watched
   */
  public StoreWatch(
      Store store,
      Keys keys,
      Duration period,
      BackgroundCalls background,
      TimeSource time,
      Listener listener) {
    this.store = store;
    this.keys = keys;
    this.background = background;
    this.reading = new PeriodicCall(background, period, time);
    this.listener = listener;
    this.next = keys.first();
  }

  /** Starts to watch, if the store can be watched. Does not block. */
  public void open() {
    if (store instanceof WatchableStore watchable) {
      watch(watchable);
    }
  }

  /** Returns whether values arrive without {@link #poll}. */
  boolean isPushed() {
    return store instanceof WatchableStore;
  }

  /** Returns the number of the next key that has not arrived yet. */
  long next() {
    return next;
  }

  private void watch(WatchableStore watchable) {
    if (closed) {
      return;
    }
    long number = next;
    CompletableFuture<byte[]> one = watchable.watch(keys.key(number));
    watch = one;
    one.whenComplete(
        (value, cause) -> {
          if (cause == null) {
            undelivered.set(new Arrival(number, value));
            deliver();
          } else if (!one.isCancelled()) {
            listener.lost(cause);
          }
        });
    if (closed) {
      one.cancel(false);
    }
  }

  private void deliver() {
    Arrival arrival = undelivered.getAndSet(null);
    if (arrival != null && !background.run(() -> receive(arrival.number(), arrival.value()))) {
      undelivered.set(arrival);
    }
  }

  private void receive(long number, byte[] value) {
    if (keys.numbered()) {
      next = number + 1;
    }
    try {
      listener.arrived(number, value);
    } finally {
      if (keys.numbered()) {
        open();
      }
    }
  }

  /**
   * Delivers the value that arrived while no thread was available, and reads from a store that
   * cannot be watched if that is due. Does not block.
   */
  public void poll() {
    if (undelivered.get() != null) {
      deliver();
    }
    if (!isPushed()) {
      read();
    }
  }

  /**
   * Reads the key if that is due, even from a store that is watched: the notification of a value
   * may arrive later than another rank's report of it. Does not block.
   */
  public void read() {
    if (!closed) {
      reading.poll(
          () -> {
            long number = next;
            String key = keys.key(number);
            if (store.check(List.of(key))) {
              receive(number, store.get(key));
            }
          });
    }
  }

  /** Stops watching. A value that arrived before may still reach the listener. */
  @Override
  public void close() {
    closed = true;
    CompletableFuture<byte[]> last = watch;
    if (last != null) {
      last.cancel(false);
    }
  }
}
