package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.WatchableStore;

/**
 * Watches one key of a group's store, or a numbered series of keys of which each is written once
 * and in turn. A store that cannot be watched is polled instead.
 *
 * <p>Values reach the listener on a thread of the background, so the listener may call the store,
 * and those of a series one after the other. A value for which no thread can be had is kept for the
 * next {@link #poll}. Thread-safe.
 */
final class StoreWatch implements AutoCloseable {

  /** Receives what is written under the watched keys. */
  interface Listener {

    /**
     * Receives a value, in the background. May block.
     *
     * @param number that of the key in its series; 0 for a single key
     */
    void arrived(long number, byte[] value);

    /**
     * Hears that the store is lost, so that nothing will arrive any more. Called on a thread of the
     * store; must not block.
     */
    default void lost(Throwable cause) {}
  }

  /**
   * Names what is watched.
   *
   * @param name the key, or what the keys of a series begin with
   * @param numbered whether it is a series
   * @param first the number of the first key
   */
  record Keys(String name, boolean numbered, long first) {

    static Keys one(String key) {
      return new Keys(key, false, 0);
    }

    static Keys series(String prefix, long first) {
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

  /** What has arrived while no thread could be had. */
  private final AtomicReference<Arrival> undelivered = new AtomicReference<>();

  private volatile long next;
  private volatile CompletableFuture<byte[]> watch;
  private volatile boolean closed;

  /**
   * Creates a watch, which begins with {@link #open}.
   *
   * @param period how often {@link #poll} reads from a store that cannot be watched
   */
  StoreWatch(
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

  /** Begins to watch, if the store can be watched. Does not block. */
  void open() {
    if (store instanceof WatchableStore watchable) {
      watch(watchable);
    }
  }

  /** Returns whether values arrive without {@link #poll}. */
  boolean isPushed() {
    return store instanceof WatchableStore;
  }

  /** Returns the number of the key that has not arrived yet. */
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
   * Hands on what has arrived while no thread could be had, and reads from a store that cannot be
   * watched if that is due. Does not block.
   */
  void poll() {
    if (undelivered.get() != null) {
      deliver();
    }
    if (!isPushed()) {
      read();
    }
  }

  /**
   * Reads the key, if that is due, also from a store that is watched: what is there already may
   * otherwise arrive later than what somebody has said of it. Does not block.
   */
  void read() {
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

  /** Stops watching. What has arrived before may still reach the listener. */
  @Override
  public void close() {
    closed = true;
    CompletableFuture<byte[]> last = watch;
    if (last != null) {
      last.cancel(false);
    }
  }
}
