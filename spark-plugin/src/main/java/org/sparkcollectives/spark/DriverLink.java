package org.sparkcollectives.spark;

import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.ValueGoneException;

/** How a task's messages reach the driver's store. Thread-safe. */
interface DriverLink {

  /**
   * Sends a message, after those of earlier calls, and gives the reply. Does not block.
   *
   * @return the reply as {@link StoreMessages#unwrap} gives it; fails with {@link StoreException}
   *     if the driver refuses, {@link StoreConnectionException} if it is lost
   */
  CompletableFuture<byte[]> ask(byte[] message);

  /**
   * Sends a message and waits for the reply, for as long as Spark waits for one.
   *
   * @throws StoreException if the driver refuses
   */
  byte[] askNow(byte[] message);

  /**
   * Fetches a large value, see {@link BlockValues}. Blocks.
   *
   * @throws ValueGoneException if the value was replaced or deleted
   */
  byte[] fetch(byte[] reference);

  /** Where the driver is, for messages. */
  String address();
}
