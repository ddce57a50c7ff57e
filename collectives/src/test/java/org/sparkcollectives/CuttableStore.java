package org.sparkcollectives;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkcollectives.store.RemoteStore;
import org.sparkcollectives.store.StoreSession;
import org.sparkcollectives.store.StoreTable;

/** A store at the other end of a cable, which can be cut: nothing breaks, nothing answers. */
final class CuttableStore extends RemoteStore {
  private final StoreSession session;
  private final AtomicInteger requestsLeft;
  private final boolean lastIsAnswered;
  private volatile boolean cut;

  CuttableStore(StoreTable table) {
    this(table, Integer.MAX_VALUE, true);
  }

  CuttableStore(StoreTable table, int requests, boolean lastIsAnswered) {
    super("a store at the other end of a cable", Duration.ofMinutes(5));
    this.session = new StoreSession(table, "");
    this.requestsLeft = new AtomicInteger(requests);
    this.lastIsAnswered = lastIsAnswered;
  }

  /** Cuts the cable. */
  void cut() {
    cut = true;
  }

  @Override
  protected CompletableFuture<byte[]> ask(byte[] request) {
    int left = requestsLeft.getAndDecrement();
    if (left <= 0) {
      cut = true;
    }
    if (cut) {
      return new CompletableFuture<>();
    }
    if (left == 1) {
      cut = !lastIsAnswered;
    }
    return session
        .answer(ByteBuffer.wrap(request))
        .thenCompose(
            answer -> cut ? new CompletableFuture<>() : CompletableFuture.completedFuture(answer));
  }

  @Override
  protected void disconnect() {
    session.close();
  }
}
