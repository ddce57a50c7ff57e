package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Tests how a session handles the bytes that a client may send. */
class StoreSessionTest {

  private static final Duration TIMEOUT = Duration.ofMillis(300);

  private final StoreTable table = new StoreTable();
  private final StoreSession session = new StoreSession(table, "g/");

  private static byte[] message(
      long id, StoreOperation operation, List<String> keys, byte[]... values) {
    return StoreCodec.encode(id, StoreRequest.of(operation, keys, List.of(values), 1, TIMEOUT));
  }

  private CompletableFuture<byte[]> answer(byte[] request) {
    return session.answer(ByteBuffer.wrap(request));
  }

  private StoreReply reply(byte[] request) {
    return StoreCodec.decodeReply(ByteBuffer.wrap(answer(request).join()));
  }

  @Test
  void anotherVersionOrOperationIsNamed() {
    byte[] request = message(1, StoreOperation.GET, List.of("k"));
    request[0] = 9;
    assertThatThrownBy(() -> reply(request))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("version 9")
        .hasMessageContaining("speaks 1");
    request[0] = StoreCodec.VERSION;
    request[1] = 99;
    assertThatThrownBy(() -> reply(request)).hasMessageContaining("unknown operation 99");
  }

  @Test
  void aRequestOfTheWrongShapeIsRefused() {
    for (byte[] request :
        List.of(
            message(1, StoreOperation.SET, List.of("a", "b"), new byte[1]),
            message(1, StoreOperation.COMPARE_SET, List.of("a"), new byte[1]),
            message(1, StoreOperation.ADD, List.of()),
            message(1, StoreOperation.QUEUE_POP, List.of("a", "b")))) {
      assertThatThrownBy(() -> reply(request))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("keys");
    }
    assertThat(table.list("")).isEmpty();
  }

  @Test
  void hugeLengthsAreRefusedBeforeAnythingIsAllocated() {
    byte[] request = message(7, StoreOperation.SET, List.of("k"), new byte[1]);
    int keyCount = 2 + 3 * Long.BYTES;
    for (int place :
        new int[] {keyCount, keyCount + 4, request.length - 6 - 4, request.length - 5}) {
      for (int huge : new int[] {Integer.MAX_VALUE, Integer.MIN_VALUE, -1, 1 << 30}) {
        byte[] bad = request.clone();
        ByteBuffer.wrap(bad).putInt(place, huge);
        byte[] answer = answer(bad).join();
        assertThat(StoreCodec.id(ByteBuffer.wrap(answer))).isEqualTo(7);
        assertThatThrownBy(() -> StoreCodec.decodeReply(ByteBuffer.wrap(answer)))
            .isInstanceOf(StoreException.class);
      }
    }
  }

  @RepeatedTest(20)
  void damagedRequestsAreAnsweredNeverThrown(RepetitionInfo repetition) {
    long seed = 4711L + repetition.getCurrentRepetition();
    Random random = new Random(seed);
    byte[] whole =
        message(3, StoreOperation.SET, List.of("key", "other"), new byte[5], new byte[0]);
    for (int i = 0; i < 2_000; i++) {
      byte[] damaged = whole.clone();
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
      }
      ByteBuffer request = ByteBuffer.wrap(damaged, 0, random.nextInt(damaged.length + 1));
      CompletableFuture<byte[]> answer = session.answer(request);
      if (answer.isDone()) {
        try {
          StoreCodec.decodeReply(ByteBuffer.wrap(answer.join()));
        } catch (StoreException | IllegalArgumentException expected) {
          assertThat(expected).as("seed " + seed).hasMessageNotContaining("Exception");
        }
      }
    }
    session.close();
    assertThat(table.waiterCount()).isZero();
    assertThat(table.list("")).allMatch(key -> key.startsWith("g/"));
  }

  @Test
  void aTimeoutIsToldWithTheKeysAsTheClientKnowsThem() {
    CompletableFuture<byte[]> answer = answer(message(5, StoreOperation.GET, List.of("x", "y")));
    assertThat(answer).isNotDone();
    byte[] expire =
        StoreCodec.encode(
            6, StoreRequest.of(StoreOperation.EXPIRE, List.of(), List.of(), 5, Duration.ZERO));
    assertThat(reply(expire)).isEqualTo(StoreReply.DONE);
    assertThatThrownBy(() -> StoreCodec.decodeReply(ByteBuffer.wrap(answer.join())))
        .isInstanceOfSatisfying(
            StoreTimeoutException.class,
            timeout -> {
              assertThat(timeout.missingKeys()).containsExactly("x", "y");
              assertThat(timeout.waited()).isEqualTo(TIMEOUT);
              assertThat(timeout)
                  .hasMessageContaining("\"x\"")
                  .hasMessageNotContaining("g/")
                  .hasMessageContaining("300ms");
            });
    assertThat(reply(expire)).isEqualTo(StoreReply.DONE);
  }

  @Test
  void anIdInUseIsRefusedAndTheFirstCallGoesOn() {
    CompletableFuture<byte[]> first = answer(message(5, StoreOperation.GET, List.of("x")));
    assertThatThrownBy(() -> reply(message(5, StoreOperation.GET, List.of("y"))))
        .hasMessageContaining("in use");
    assertThat(table.waiterCount()).isEqualTo(1);
    table.set(List.of("g/x"), List.of(StoredValue.of(new byte[] {1})));
    assertThat(first).isDone();
  }

  @Test
  void closingWithdrawsTheWaitersOfThisClientOnly() {
    StoreSession other = new StoreSession(table, "");
    CompletableFuture<byte[]> mine = answer(message(1, StoreOperation.QUEUE_POP, List.of("q")));
    CompletableFuture<byte[]> others =
        other.answer(ByteBuffer.wrap(message(1, StoreOperation.QUEUE_POP, List.of("g/q"))));
    session.close();
    assertThat(mine).isCancelled();
    table.push("g/q", StoredValue.of(new byte[0]));
    assertThat(others).isCompleted();
    assertThat(answer(message(2, StoreOperation.GET, List.of("late")))).isCancelled();
    assertThat(table.waiterCount()).isZero();
  }

  @Test
  void aClientOutOfControlIsStopped() {
    for (int id = 0; id < StoreSession.MAX_WAITING; id++) {
      answer(message(id, StoreOperation.GET, List.of("never")));
    }
    assertThatThrownBy(
            () -> reply(message(StoreSession.MAX_WAITING, StoreOperation.GET, List.of("never"))))
        .hasMessageContaining("calls waiting");
    session.close();
    assertThat(table.waiterCount()).isZero();
  }
}
