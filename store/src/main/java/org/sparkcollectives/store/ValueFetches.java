package org.sparkcollectives.store;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The values of one reply, once those that it only refers to are fetched: a few at once, so that a
 * reply with many of them takes no more threads than one with few.
 */
final class ValueFetches extends CompletableFuture<List<StoredValue>> {

  /** Enough to keep a network busy while values are copied. */
  static final int MOST_AT_ONCE = 4;

  private final StoredValue[] values;
  private final Function<byte[], CompletableFuture<byte[]>> fetch;
  private final BooleanSupplier wanted;

  /** The places of the values to fetch. */
  private final int[] places;

  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger missing;

  private ValueFetches(
      List<StoredValue> values,
      Function<byte[], CompletableFuture<byte[]>> fetch,
      BooleanSupplier wanted) {
    this.values = values.toArray(StoredValue[]::new);
    this.fetch = fetch;
    this.wanted = wanted;
    this.places =
        IntStream.range(0, this.values.length)
            .filter(place -> this.values[place].reference().isPresent())
            .toArray();
    this.missing = new AtomicInteger(places.length);
  }

  /**
   * Fetches the values that {@code values} only refers to. Does not block.
   *
   * @param fetch gives the bytes to which a reference points; does not block
   * @param wanted whether somebody still waits; if not, no further fetch begins
   */
  static CompletableFuture<List<StoredValue>> of(
      List<StoredValue> values,
      Function<byte[], CompletableFuture<byte[]>> fetch,
      BooleanSupplier wanted) {
    ValueFetches fetches = new ValueFetches(values, fetch, wanted);
    if (fetches.places.length == 0) {
      fetches.complete(values);
    }
    for (int i = 0; i < Math.min(MOST_AT_ONCE, fetches.places.length); i++) {
      fetches.fetchOn();
    }
    return fetches;
  }

  /** Fetches one value after the other, until one must be waited for. */
  private void fetchOn() {
    for (int next = next(); next >= 0; next = next()) {
      int place = next;
      CompletableFuture<byte[]> fetched = begin(place);
      if (!fetched.isDone()) {
        fetched.whenComplete(
            (bytes, failure) -> {
              take(place, bytes, failure);
              fetchOn();
            });
        return;
      }
      fetched.whenComplete((bytes, failure) -> take(place, bytes, failure));
    }
  }

  /** Returns the place of the next value to fetch; -1 if there is none, or nobody waits. */
  private int next() {
    int next = begun.getAndIncrement();
    if (next >= places.length || isDone()) {
      return -1;
    }
    if (!wanted.getAsBoolean()) {
      completeExceptionally(new CancellationException("nobody waits for the values"));
      return -1;
    }
    return places[next];
  }

  private CompletableFuture<byte[]> begin(int place) {
    try {
      return fetch.apply(values[place].bytes());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void take(int place, byte[] bytes, Throwable failure) {
    if (failure != null) {
      completeExceptionally(failure);
      return;
    }
    values[place] = new ReceivedValue(bytes, false);
    if (missing.decrementAndGet() == 0) {
      complete(Arrays.asList(values));
    }
  }
}
