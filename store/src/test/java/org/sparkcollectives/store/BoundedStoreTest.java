package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Tests that the limit of a store is found through all its views, because groups use views alone.
 */
class BoundedStoreTest {

  private static final class Small extends RemoteStore implements BoundedStore {
    Small() {
      super("a small store", Duration.ofMinutes(5));
    }

    private Duration asked;

    @Override
    public long freeBytes(Duration atMost) {
      asked = atMost;
      return 7;
    }

    @Override
    public String limit() {
      return "its.limit";
    }

    @Override
    protected CompletableFuture<byte[]> ask(byte[] request) {
      return new CompletableFuture<>();
    }

    @Override
    protected void disconnect() {}
  }

  @Test
  void itIsFoundThroughEveryKindOfView() {
    try (Small small = new Small()) {
      assertThat(BoundedStore.of(small)).containsSame(small);
      assertThat(BoundedStore.of(small.withPrefix("a").withPrefix("b"))).containsSame(small);
      Store later = small.withTimeout(Duration.ofSeconds(1));
      assertThat(BoundedStore.of(later)).containsSame(small);
      Store leased = StoreLease.of(later.withPrefix("a")).store();
      assertThat(BoundedStore.of(leased)).containsSame(small);
      Store view = Deadline.after(Duration.ofHours(1)).bound(leased.withPrefix("b"));
      assertThat(BoundedStore.of(view)).containsSame(small);
    }
  }

  @Test
  void aViewWithADeadlineAsksForNoLonger() {
    try (Small small = new Small()) {
      assertThat(BoundedStore.freeBytes(small)).hasValue(7);
      assertThat(small.asked).isEqualTo(small.timeout());
      Store view = Deadline.after(Duration.ofSeconds(3)).bound(small.withPrefix("a"));
      assertThat(BoundedStore.freeBytes(view.withPrefix("b"))).hasValue(7);
      assertThat(small.asked).isBetween(Duration.ofMillis(1), Duration.ofSeconds(3));
    }
  }

  @Test
  void aStoreWithoutABoundHasNone() {
    try (HashStore store = new HashStore()) {
      assertThat(BoundedStore.of(store)).isEmpty();
      assertThat(BoundedStore.freeBytes(store)).isEmpty();
      assertThat(BoundedStore.of(store.withPrefix("a"))).isEmpty();
    }
  }
}
