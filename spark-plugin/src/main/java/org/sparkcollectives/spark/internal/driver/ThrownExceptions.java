package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.ThrownException;

/**
 * What ranks have thrown, of those calls of {@code BarrierStage} that run a job; of each attempt of
 * their stage, the first exception. Thread-safe.
 */
final class ThrownExceptions {

  private final Map<String, Map<StageAttempt, CompletableFuture<byte[]>>> first =
      new ConcurrentHashMap<>();

  /** Expects the exceptions of a job of {@code call}; those of a job before are removed. */
  void expect(String call) {
    first.put(call, new ConcurrentHashMap<>());
  }

  /** Keeps the first exception of the attempt. */
  void receive(String call, StageAttempt stage, byte[] encoded) {
    CompletableFuture<byte[]> expected = of(call, stage);
    if (expected != null) {
      expected.complete(encoded);
    }
  }

  /**
   * Returns the first exception of the attempt. Blocks until it has come, for {@code atMost}.
   *
   * @return empty if none has come, or the one that came cannot be read here
   */
  Optional<Throwable> await(String call, StageAttempt stage, Duration atMost)
      throws InterruptedException {
    CompletableFuture<byte[]> expected = of(call, stage);
    if (expected == null) {
      return Optional.empty();
    }
    try {
      return ThrownException.decode(expected.get(atMost.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException | ExecutionException e) {
      return Optional.empty();
    }
  }

  /** Forgets a call, which has no further job. */
  void release(String call) {
    first.remove(call);
  }

  /** Returns the exception of an attempt, now or later; null if the call is not expected. */
  private CompletableFuture<byte[]> of(String call, StageAttempt stage) {
    Map<StageAttempt, CompletableFuture<byte[]>> attempts = first.get(call);
    return attempts == null
        ? null
        : attempts.computeIfAbsent(stage, attempt -> new CompletableFuture<>());
  }
}
