package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.Threads;

/**
 * Tests that a value outside the table is released once nothing refers to it, whatever happened.
 */
@Timeout(60)
class ValueOwnershipTest {

  private static final String REFUSED = "refused";

  private final Map<Integer, Counted> kept = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final StoreTable table = new StoreTable(this::create);
  private final Store local = new TableStore(table, "the table", Duration.ofSeconds(20));
  private final Remote remote = new Remote(new StoreSession(table, ""));
  private final Threads threads = new Threads();

  /** A value outside the table, which returns a reference instead of its bytes. */
  private final class Counted implements StoredValue {
    private final int number = numbers.incrementAndGet();
    private final byte[] bytes;

    Counted(byte[] bytes) {
      this.bytes = bytes;
      kept.put(number, this);
    }

    @Override
    public int size() {
      return bytes.length;
    }

    @Override
    public byte[] bytes() {
      return bytes;
    }

    @Override
    public Optional<byte[]> reference() {
      return Optional.of(ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
    }

    @Override
    public void released() {
      assertThat(kept.remove(number)).as("released once").isSameAs(this);
    }
  }

  /** A client that fetches its values from {@link #kept}. */
  private final class Remote extends RemoteStore {
    private final StoreSession session;

    Remote(StoreSession session) {
      super("Remote", Duration.ofSeconds(20));
      this.session = session;
    }

    @Override
    protected CompletableFuture<byte[]> ask(byte[] request) {
      return session.answer(ByteBuffer.wrap(request));
    }

    @Override
    protected CompletableFuture<byte[]> fetch(byte[] reference) {
      Counted value = kept.get(ByteBuffer.wrap(reference).getInt());
      return value == null
          ? CompletableFuture.failedFuture(new ValueGoneException("it was released too early"))
          : CompletableFuture.completedFuture(value.bytes.clone());
    }

    @Override
    protected void disconnect() {
      session.close();
    }
  }

  private StoredValue create(String key, byte[] bytes) {
    if (key.equals(REFUSED)) {
      throw new StoreException("there is no room for " + key);
    }
    return new Counted(bytes);
  }

  @AfterEach
  void nothingIsLeftOnceTheTableIsClosed() {
    threads.close();
    remote.close();
    table.close();
    assertThat(kept).isEmpty();
  }

  private static byte[] value(int first) {
    return new byte[] {(byte) first, 1, 2, 3};
  }

  @Test
  void whatIsTakenFromAQueueIsReleasedOnceItIsRead() throws Exception {
    for (Store store : List.of(local, remote)) {
      store.queuePush("q", value(1));
      assertThat(store.queuePop("q", false)).isEqualTo(value(1));
      assertThat(kept).isEmpty();
      Future<byte[]> pop = threads.start(() -> store.queuePop("q", true));
      Eventually.holds(() -> table.waiterCount() == 1, () -> "the call waits");
      local.queuePush("q", value(2));
      assertThat(Threads.result(pop)).isEqualTo(value(2));
      Eventually.holds(kept::isEmpty, () -> kept.size() + " values are left");
    }
  }

  @Test
  void whatAClientHasTakenAndNotFetchedIsReleasedWithItsSession() {
    StoreSession session = new StoreSession(table, "");
    local.queuePush("q", value(1));
    byte[] pop =
        StoreCodec.encode(
            1,
            StoreRequest.of(
                StoreOperation.QUEUE_POP, List.of("q"), List.of(), 0, Duration.ofSeconds(1)));
    assertThat(session.answer(ByteBuffer.wrap(pop))).isCompleted();
    assertThat(kept).hasSize(1);
    session.close();
    assertThat(kept).isEmpty();
  }

  @Test
  void whatTheTableRefusesIsReleased() {
    local.queuePush("q", value(0));
    local.set("k", value(0));
    for (Store store : List.of(local, remote)) {
      assertThatThrownBy(() -> store.set("q", value(1))).isInstanceOf(StoreException.class);
      assertThatThrownBy(() -> store.multiSet(List.of("a", "q"), List.of(value(1), value(2))))
          .isInstanceOf(StoreException.class);
      assertThatThrownBy(() -> store.multiSet(List.of("a", REFUSED), List.of(value(1), value(2))))
          .hasMessageContaining("no room");
      assertThatThrownBy(() -> store.queuePush("k", value(1))).isInstanceOf(StoreException.class);
      assertThatThrownBy(() -> store.compareSet("q", new byte[0], value(1)))
          .isInstanceOf(StoreException.class);
      assertThat(store.compareSet("k", new byte[0], value(1))).isEqualTo(value(0));
      assertThat(kept).hasSize(2);
    }
    table.close();
    assertThatThrownBy(() -> local.set("k", value(1))).isInstanceOf(IllegalStateException.class);
    assertThat(kept).isEmpty();
  }

  @Test
  void whatIsReplacedOrDeletedIsReleased() {
    for (Store store : List.of(local, remote)) {
      store.set("k", value(1));
      store.set("k", value(2));
      store.multiSet(List.of("k", "k"), List.of(value(3), value(4)));
      store.append("k", value(5));
      store.compareSet("k", store.get("k"), value(6));
      assertThat(kept).hasSize(1);
      store.deleteKey("k");
      store.queuePush("q", value(1));
      store.queuePush("q", value(2));
      store.deleteKey("q");
      assertThat(kept).isEmpty();
    }
  }

  @Test
  void aRequestThatIsCarriedOutWhileItsSessionClosesLeavesNothingBehind() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    StoreTable slow =
        new StoreTable(
            (key, bytes) -> {
              inside.countDown();
              awaitQuietly(goOn);
              return new Counted(bytes);
            });
    StoreSession session = new StoreSession(slow, "stage/");
    byte[] set =
        StoreCodec.encode(
            1,
            StoreRequest.of(
                StoreOperation.SET, List.of("k"), List.of(value(1)), 0, Duration.ofSeconds(1)));
    Future<?> request = threads.start(() -> session.answer(ByteBuffer.wrap(set)));
    awaitQuietly(inside);
    CompletableFuture<Thread> cleaner = new CompletableFuture<>();
    Future<?> cleanUp =
        threads.start(
            () -> {
              cleaner.complete(Thread.currentThread());
              session.close();
              return slow.removePrefix("stage/", "it has ended");
            });
    Thread closing = Threads.result(cleaner);
    Eventually.holds(
        () -> cleanUp.isDone() || closing.getState() == Thread.State.BLOCKED,
        () -> "the session closes, but its thread is " + closing.getState());
    goOn.countDown();
    Threads.result(request);
    Threads.result(cleanUp);
    assertThat(slow.list("")).as("keys of the stage that has ended").isEmpty();
    assertThat(session.answer(ByteBuffer.wrap(set))).isCompletedExceptionally();
    assertThat(slow.list("")).isEmpty();
    slow.close();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
