package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.Threads;

/** Tests that each reply is bounded when one call asks for many small values, or for all keys. */
class RepliesInPartsTest {

  private static final int VALUE_BYTES = 64 << 10;
  private static final int MOST_BYTES = (1 << 20) + (4 << 10);
  private static final List<String> KEYS =
      IntStream.range(0, 100).mapToObj(i -> "key " + i).toList();

  private final StoreTable table = new StoreTable();
  private final StoreSession session = new StoreSession(table, "g/");
  private final List<Integer> replies = new CopyOnWriteArrayList<>();
  private Runnable afterTheFirst = () -> {};
  private CompletableFuture<Void> beforeTheNext = CompletableFuture.completedFuture(null);

  private final class Client extends RemoteStore {

    Client() {
      super("the store", Duration.ofMinutes(5));
    }

    @Override
    protected CompletableFuture<byte[]> ask(byte[] request) {
      CompletableFuture<Void> before =
          replies.isEmpty() ? CompletableFuture.completedFuture(null) : beforeTheNext;
      return before
          .thenCompose(nothing -> session.answer(ByteBuffer.wrap(request)))
          .whenComplete(
              (reply, failure) -> {
                replies.add(reply.length);
                if (replies.size() == 1) {
                  afterTheFirst.run();
                }
              });
    }

    @Override
    protected void disconnect() {
      session.close();
    }
  }

  private final RemoteStore client = new Client();

  @AfterEach
  void close() {
    client.close();
    assertThat(session.followingCount()).isZero();
    table.close();
  }

  private static byte[] value(int seed) {
    byte[] bytes = new byte[VALUE_BYTES];
    Arrays.fill(bytes, (byte) seed);
    return bytes;
  }

  private void setAll(int seed) {
    table.set(
        KEYS.stream().map(key -> "g/" + key).toList(),
        IntStream.range(0, KEYS.size()).mapToObj(i -> StoredValue.of(value(i + seed))).toList());
  }

  private void assertValues(List<byte[]> values, int seed) {
    assertThat(values).hasSameSizeAs(KEYS);
    for (int i = 0; i < values.size(); i++) {
      assertThat(Arrays.equals(values.get(i), value(i + seed))).as("value %d", i).isTrue();
    }
  }

  @Test
  void valuesComeInRepliesOfWhichNoneIsLarge() {
    setAll(1);
    assertValues(client.multiGet(KEYS), 1);
    assertThat(replies).hasSize(7).allMatch(bytes -> bytes <= MOST_BYTES);
    assertThat(session.followingCount()).isZero();
  }

  @Test
  void valuesAreAllOfOneMoment() {
    setAll(1);
    afterTheFirst = () -> setAll(2);
    assertValues(client.multiGet(KEYS), 1);
    assertValues(client.multiGet(KEYS), 2);
  }

  /** Keys of 200 to 207 bytes, some of them with letters of two bytes. */
  private List<String> setKeys() {
    List<String> keys =
        IntStream.range(0, 20_000).mapToObj(i -> "ä".repeat(100) + i % 7 + "-" + i).toList();
    keys.forEach(key -> table.set(List.of("g/" + key), List.of(StoredValue.of(new byte[0]))));
    return keys;
  }

  @Test
  void keysComeInRepliesOfWhichNoneIsLarge() {
    List<String> keys = setKeys();
    table.set(List.of("h/of another"), List.of(StoredValue.of(new byte[0])));
    assertThat(client.listKeys()).containsExactlyInAnyOrderElementsOf(keys);
    assertThat(replies).hasSize(5).allMatch(bytes -> bytes <= MOST_BYTES);
    replies.clear();
    List<String> some = keys.stream().filter(key -> key.contains("ä3-")).toList();
    assertThat(client.keysUnder("ä".repeat(100) + "3-")).containsExactlyInAnyOrderElementsOf(some);
    assertThat(replies).hasSize(1);
  }

  @Test
  void keysAreAllOfOneMoment() {
    List<String> keys = setKeys();
    afterTheFirst = () -> table.removePrefix("g/", "the test has it so");
    assertThat(client.listKeys()).containsExactlyInAnyOrderElementsOf(keys);
    assertThat(client.listKeys()).isEmpty();
  }

  @Test
  void oneThatIsLargerThanAReplyOfManyComesByItself() {
    byte[] large = new byte[3 << 20];
    table.set(
        List.of("g/a", "g/b", "g/c"),
        List.of(StoredValue.of(value(1)), StoredValue.of(large), StoredValue.of(value(2))));
    assertThat(client.multiGet(List.of("a", "b", "c")))
        .extracting(bytes -> bytes.length)
        .containsExactly(VALUE_BYTES, large.length, VALUE_BYTES);
    assertThat(replies).hasSize(3);
  }

  @Test
  void whatFollowsGoesWithTheClientThatDoesNotAskForIt() {
    setAll(1);
    session.answer(
        ByteBuffer.wrap(
            StoreCodec.encode(
                7,
                StoreRequest.of(StoreOperation.GET, KEYS, List.of(), 0, Duration.ofMinutes(1)))));
    assertThat(session.followingCount()).isEqualTo(KEYS.size() - 15);
    session.close();
    assertThat(session.followingCount()).isZero();
  }

  @Test
  void whatFollowsIsForgottenWhenNobodyWaitsForItAnyMore() throws Exception {
    setAll(1);
    beforeTheNext = new CompletableFuture<>();
    try (Threads threads = new Threads()) {
      Future<?> get = threads.start(() -> client.multiGet(KEYS));
      Eventually.holds(() -> session.followingCount() > 0, () -> "nothing is to follow");
      client.wake(new StoreException("the group has failed"));
      assertThat(Threads.failure(get)).hasMessageContaining("the group has failed");
      beforeTheNext.complete(null);
    }
    assertThat(session.followingCount()).isZero();
  }
}
