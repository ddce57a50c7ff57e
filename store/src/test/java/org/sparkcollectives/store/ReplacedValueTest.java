package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests values that travel by reference and are replaced before they are fetched. */
class ReplacedValueTest {

  /** A value that returns a reference instead of its bytes. */
  private record Elsewhere(byte[] bytes) implements StoredValue {

    @Override
    public int size() {
      return bytes.length;
    }

    @Override
    public Optional<byte[]> reference() {
      return Optional.of(bytes);
    }
  }

  private static final class Fetching extends RemoteStore {

    private final StoreSession session;
    private final AtomicInteger fetches = new AtomicInteger();
    private final int misses;

    Fetching(StoreTable table, int misses) {
      super("Fetching", Duration.ofSeconds(5));
      this.session = new StoreSession(table, "");
      this.misses = misses;
    }

    @Override
    protected CompletableFuture<byte[]> ask(byte[] request) {
      return session.answer(ByteBuffer.wrap(request));
    }

    @Override
    protected CompletableFuture<byte[]> fetch(byte[] reference) {
      return fetches.incrementAndGet() <= misses
          ? CompletableFuture.failedFuture(new ValueGoneException("the value is gone"))
          : CompletableFuture.completedFuture(reference);
    }

    @Override
    protected void disconnect() {
      session.close();
    }
  }

  private static byte[] getAfter(int misses) {
    StoreTable table = new StoreTable((key, bytes) -> new Elsewhere(bytes));
    table.set(List.of("k"), List.of(new Elsewhere(new byte[] {7})));
    try (table;
        Fetching store = new Fetching(table, misses)) {
      return store.get("k");
    }
  }

  @Test
  void aValueThatWasReplacedIsAskedForAgain() {
    assertThat(getAfter(2)).containsExactly(7);
  }

  @Test
  void aValueThatIsGoneAgainAndAgainFailsTheCall() {
    assertThatThrownBy(() -> getAfter(100))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("the value is gone");
  }
}
