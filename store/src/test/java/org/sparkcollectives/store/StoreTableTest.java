package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Threads;

/** Tests the table beyond the calls of a store. */
class StoreTableTest {

  private final StoreTable table = new StoreTable();

  private static StoredValue value(String text) {
    return StoredValue.of(text.getBytes(UTF_8));
  }

  @Test
  void aPrefixIsRemovedWithItsWaitersAndNothingElse() throws Exception {
    table.set(
        List.of("a/1", "a/2", "ab/1", "b"), List.of(value(""), value(""), value(""), value("")));
    table.push("a/q", value(""));
    List<StoreWaiter<?>> inside =
        List.of(
            table.get(List.of("a/nope")),
            table.waitFor(List.of("nope", "a/nope")),
            table.pop("a/empty"),
            table.barrier("a/b", 2));
    List<StoreWaiter<?>> outside =
        List.of(table.get(List.of("ab/nope")), table.pop("nope"), table.barrier("b", 2));

    assertThat(table.removePrefix("a/", "its stage has ended")).isEqualTo(3);

    assertThat(table.list("")).containsExactly("ab/1", "b");
    for (StoreWaiter<?> waiter : inside) {
      assertThat(Threads.failure(waiter))
          .isExactlyInstanceOf(StoreException.class)
          .hasMessageContaining("\"a/\"")
          .hasMessageContaining("its stage has ended");
    }
    assertThat(outside).noneMatch(CompletableFuture::isDone);
    assertThat(table.waiterCount()).isEqualTo(outside.size());
  }

  @Test
  void aWaiterThatGaveUpTakesNothing() {
    StoreWaiter<StoredValue> cancelled = table.pop("q");
    StoreWaiter<StoredValue> expired = table.pop("q");
    StoreWaiter<StoredValue> patient = table.pop("q");
    assertThat(cancelled.cancel(false)).isTrue();
    expired.expire(Duration.ofSeconds(1));
    assertThat(expired).isCompletedExceptionally();
    StoredValue pushed = value("v");
    table.push("q", pushed);
    assertThat(patient).isCompletedWithValue(pushed);
    assertThat(patient.cancel(false)).isFalse();
    patient.expire(Duration.ofSeconds(1));
    assertThat(patient).isCompletedWithValue(pushed);
  }

  @Test
  void whatIsReplacedOrRemovedIsReleasedOnce() {
    Map<String, Integer> released = new HashMap<>();
    StoreTable counting =
        new StoreTable(
            (key, bytes) ->
                new StoredValue() {
                  @Override
                  public int size() {
                    return bytes.length;
                  }

                  @Override
                  public byte[] bytes() {
                    return bytes;
                  }

                  @Override
                  public void released() {
                    released.merge(new String(bytes, UTF_8), 1, Integer::sum);
                  }
                });
    counting.set(List.of("k"), List.of(counting.newValue("k", "1".getBytes(UTF_8))));
    counting.add("k", 1);
    assertThat(released).containsOnly(Map.entry("1", 1));
    counting.append("k", "!".getBytes(UTF_8));
    counting.compareSet("k", new byte[0], counting.newValue("k", "refused".getBytes(UTF_8)));
    counting.delete(List.of("k"));
    counting.push("q", counting.newValue("q", "taken".getBytes(UTF_8)));
    counting.push("q", counting.newValue("q", "left".getBytes(UTF_8)));
    counting.poll("q");
    counting.close();
    assertThat(released)
        .containsOnly(
            Map.entry("1", 1),
            Map.entry("2", 1),
            Map.entry("2!", 1),
            Map.entry("refused", 1),
            Map.entry("left", 1));
  }

  @Test
  void aValueKeptElsewhereTravelsAsAReference() {
    Map<String, byte[]> elsewhere = new HashMap<>();
    StoreTable referring =
        new StoreTable(
            (key, bytes) -> {
              // Each value takes a new block, because values are immutable.
              String block = "block " + elsewhere.size() + " of " + key;
              elsewhere.put(block, bytes);
              return new StoredValue() {
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
                  return Optional.of(block.getBytes(UTF_8));
                }
              };
            });
    StoreSession session = new StoreSession(referring, "g/");
    try (RemoteStore store =
        new RemoteStore("test", Duration.ofSeconds(30)) {
          @Override
          protected CompletableFuture<byte[]> ask(byte[] request) {
            return session.answer(ByteBuffer.wrap(request));
          }

          @Override
          protected CompletableFuture<byte[]> fetch(byte[] reference) {
            return CompletableFuture.completedFuture(
                elsewhere.get(new String(reference, UTF_8)).clone());
          }

          @Override
          protected void disconnect() {
            session.close();
          }
        }) {
      store.multiSet(List.of("a", "b"), List.of("1".getBytes(UTF_8), "2".getBytes(UTF_8)));
      assertThat(elsewhere).containsOnlyKeys("block 0 of g/a", "block 1 of g/b");
      assertThat(store.multiGet(List.of("b", "a")))
          .extracting(bytes -> new String(bytes, UTF_8))
          .containsExactly("2", "1");
      assertThat(store.compareSet("a", new byte[0], new byte[0])).asString().isEqualTo("1");
      assertThat(store.watch("a")).isCompletedWithValueMatching(bytes -> bytes[0] == '1');
    }
  }

  @Test
  void aClosedTableRefusesEverything() throws Exception {
    StoreWaiter<List<StoredValue>> waiting = table.get(List.of("k"));
    table.close();
    table.close();
    assertThat(Threads.failure(waiting)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> table.add("k", 1)).isInstanceOf(IllegalStateException.class);
  }
}
