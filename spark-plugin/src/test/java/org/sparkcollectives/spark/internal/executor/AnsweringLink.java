package org.sparkcollectives.spark.internal.executor;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A way to a driver whose answers a test gives, and that keeps no large values. */
record AnsweringLink(Function<byte[], CompletableFuture<byte[]>> driver) implements DriverLink {

  @Override
  public CompletableFuture<byte[]> ask(byte[] message) {
    return driver.apply(message);
  }

  @Override
  public byte[] fetch(byte[] reference) {
    throw new AssertionError("no value is large");
  }

  @Override
  public String address() {
    return "driver:1";
  }
}
