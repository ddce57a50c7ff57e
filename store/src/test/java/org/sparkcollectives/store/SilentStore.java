package org.sparkcollectives.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A store whose other side has been cut off. */
final class SilentStore extends RemoteStore {

  SilentStore() {
    super("a store that was cut off", Duration.ofMinutes(5));
  }

  @Override
  protected CompletableFuture<byte[]> ask(byte[] request) {
    return new CompletableFuture<>();
  }

  @Override
  protected void disconnect() {}
}
