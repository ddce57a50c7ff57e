package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.FuzzedStream;

/**
 * Tests that a client gets an answer to any request that it makes up, or waits for one, and changes
 * no key but its own.
 */
class StoreSessionFuzzTest {

  private static final String PREFIX = "g/";
  private static final String OTHERS_KEY = "other/key";
  private static final byte[] OTHERS_VALUE = "theirs".getBytes(UTF_8);

  /** The longest request; further bytes are the next request. */
  private static final int MOST = 1 << 10;

  static Stream<byte[]> seeds() {
    byte[] value = "value".getBytes(UTF_8);
    List<byte[]> sets = new ArrayList<>();
    sets.add(request(1, StoreOperation.SET, 0, List.of("a", "b"), value, value));
    sets.add(request(2, StoreOperation.GET, 0, List.of("a", "b")));
    sets.add(request(3, StoreOperation.COMPARE_SET, 0, List.of("a"), value, new byte[0]));
    sets.add(request(4, StoreOperation.APPEND, 0, List.of("a"), value));
    sets.add(request(5, StoreOperation.ADD, 7, List.of("n")));
    sets.add(request(6, StoreOperation.ADD, Long.MAX_VALUE, List.of("n")));
    sets.add(request(7, StoreOperation.ADD, 1, List.of("a")));
    sets.add(request(8, StoreOperation.DELETE, 0, List.of("b", "c")));
    sets.add(request(9, StoreOperation.LIST, 0, List.of("")));
    sets.add(request(10, StoreOperation.COUNT, 0, List.of("")));
    List<byte[]> waits = new ArrayList<>();
    waits.add(request(1, StoreOperation.WAIT, 0, List.of("late", "later")));
    waits.add(request(2, StoreOperation.QUEUE_POP, 0, List.of("q")));
    waits.add(request(3, StoreOperation.QUEUE_PUSH, 0, List.of("q"), value));
    waits.add(request(3, StoreOperation.QUEUE_POLL, 0, List.of("q")));
    waits.add(request(4, StoreOperation.QUEUE_LENGTH, 0, List.of("q")));
    waits.add(request(5, StoreOperation.BARRIER, 3, List.of("all")));
    waits.add(request(6, StoreOperation.BARRIER, 1L << 40, List.of("all")));
    waits.add(request(7, StoreOperation.EXPIRE, 5, List.of()));
    waits.add(request(8, StoreOperation.CHECK, 0, List.of("late", "../other/key")));
    return Stream.of(stream(sets), stream(waits));
  }

  private static byte[] request(
      long id, StoreOperation operation, long number, List<String> keys, byte[]... values) {
    return StoreCodec.encode(
        id, StoreRequest.of(operation, keys, List.of(values), number, Duration.ofMillis(5)));
  }

  private static byte[] stream(List<byte[]> requests) {
    List<byte[]> framed = new ArrayList<>();
    for (byte[] each : requests) {
      framed.add(
          ByteBuffer.allocate(2 + each.length).putShort((short) each.length).put(each).array());
    }
    return FuzzedStream.seed(0, framed.toArray(byte[][]::new));
  }

  @MethodSource("seeds")
  @FuzzTest
  void eachRequestIsAnsweredOrWaitsAndChangesNoKeyButTheClientsOwn(byte[] input) {
    StoreTable table = new StoreTable();
    table.set(List.of(OTHERS_KEY), List.of(StoredValue.of(OTHERS_VALUE)));
    StoreSession session = new StoreSession(table, PREFIX);
    ByteBuffer in = ByteBuffer.wrap(new FuzzedStream(input).bytes());
    while (in.remaining() >= Short.BYTES) {
      int length = Math.min(Math.floorMod(in.getShort(), MOST), in.remaining());
      byte[] request = new byte[length];
      in.get(request);
      CompletableFuture<byte[]> answer = session.answer(ByteBuffer.wrap(request));
      if (answer.isDone()) {
        check(request, answer.join());
      }
    }
    session.close();
    assertThat(table.waiterCount()).isZero();
    assertThat(table.list(""))
        .allMatch(key -> key.startsWith(PREFIX) || key.equals(OTHERS_KEY))
        .contains(OTHERS_KEY);
    assertThat(table.get(List.of(OTHERS_KEY)).join().get(0).bytes()).isEqualTo(OTHERS_VALUE);
  }

  private static void check(byte[] request, byte[] answer) {
    if (request.length >= Long.BYTES + 18) {
      assertThat(StoreCodec.id(ByteBuffer.wrap(answer)))
          .isEqualTo(StoreCodec.id(ByteBuffer.wrap(request)));
    }
    try {
      assertThat(StoreCodec.decodeReply(ByteBuffer.wrap(answer))).isNotNull();
    } catch (StoreException | IllegalArgumentException refusal) {
      // Our own checks have messages of our own.
      assertThat(refusal.getMessage()).isNotBlank().doesNotStartWith("java.");
    }
  }
}
