package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.sparkcollectives.spark.internal.protocol.ThrownException;

/** What ranks have thrown, of those calls of {@code BarrierStage} that run a job. Thread-safe. */
final class ThrownExceptions {

  private final Map<String, CompletableFuture<byte[]>> first = new ConcurrentHashMap<>();

  /** Expects the exceptions of a job of {@code call}; those of a job before are removed. */
  void expect(String call) {
    first.put(call, new CompletableFuture<>());
  }

  /** Keeps the first exception of the job. */
  void receive(String call, byte[] encoded) {
    CompletableFuture<byte[]> expected = first.get(call);
    if (expected != null) {
      expected.complete(encoded);
    }
  }

  /** Returns the first exception of the job. Blocks until it has come, for {@code atMost}. */
  Optional<Throwable> await(String call, Duration atMost) throws InterruptedException {
    try {
      byte[] encoded = first.get(call).get(atMost.toMillis(), TimeUnit.MILLISECONDS);
      return ThrownException.decode(encoded);
    } catch (TimeoutException | ExecutionException e) {
      return Optional.empty();
    }
  }

  /** Forgets a call, which has no further job. */
  void release(String call) {
    first.remove(call);
  }
}
