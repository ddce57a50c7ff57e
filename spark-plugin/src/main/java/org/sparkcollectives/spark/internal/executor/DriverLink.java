package org.sparkcollectives.spark.internal.executor;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.spark.internal.protocol.ValueReference;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.ValueGoneException;

/** Sends a task's messages to the driver's store. Thread-safe. */
public interface DriverLink {

  /**
   * Sends a message after those of earlier calls, and returns a future of the reply. Does not
   * block.
   *
   * @return the reply as {@link StoreMessages#unwrap} returns it; fails with {@link StoreException}
   *     if the driver refuses, {@link StoreConnectionException} if it is lost
   */
  CompletableFuture<byte[]> ask(byte[] message);

  /**
   * Sends a message and waits for the reply.
   *
   * @throws StoreException if the driver refuses, is lost, or does not answer in time, or if the
   *     thread is interrupted, whose interrupt flag stays set
   */
  default byte[] ask(byte[] message, Duration atMost) {
    return reply(ask(message), atMost);
  }

  /** Waits for a reply, as {@link #ask(byte[], Duration)} does. */
  default <T> T reply(CompletableFuture<T> reply, Duration atMost) {
    try {
      return reply.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new StoreConnectionException(
          "The driver's store at "
              + address()
              + " did not answer within "
              + atMost.toMillis()
              + " ms",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException(
          "The wait for the driver's store at " + address() + " was interrupted", e);
    } catch (ExecutionException e) {
      // The exception comes from another thread, whose stack does not show the caller.
      throw e.getCause() instanceof StoreConnectionException
          ? new StoreConnectionException(e.getCause().getMessage(), e.getCause())
          : new StoreException(e.getCause().getMessage(), e.getCause());
    }
  }

  /**
   * Fetches a large value, see {@link ValueReference}. Blocks.
   *
   * @throws ValueGoneException if the value was replaced or deleted
   */
  byte[] fetch(byte[] reference);

  /** Returns the driver's address, for messages. */
  String address();
}
