package org.sparkcollectives;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.store.RemoteStore;

/** A store whose other side takes each request and never answers, as if it were cut off. */
final class UnresponsiveStore extends RemoteStore {

  UnresponsiveStore() {
    super("a store that was cut off", Duration.ofMinutes(5));
  }

  @Override
  protected CompletableFuture<byte[]> ask(byte[] request) {
    return new CompletableFuture<>();
  }

  @Override
  protected void disconnect() {}
}
