package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a client turns anything that a server answers into a reply, or an error that it can
 * throw.
 */
class StoreReplyFuzzTest {

  static Stream<byte[]> seeds() {
    StoredValue value = StoredValue.of("value".getBytes(UTF_8));
    StoreFailure timeout =
        StoreFailure.of(
            new StoreTimeoutException("too late", List.of("a", "b"), Duration.ofSeconds(3)));
    return Stream.of(
        StoreCodec.message(1, new StoreReply(List.of(value, value), List.of("key"), 7))
            .toByteArray(),
        StoreCodec.encode(2, timeout),
        StoreCodec.encode(3, StoreFailure.of(new QueueEmptyException("nothing there"))),
        StoreCodec.encode(4, StoreFailure.of(new IllegalArgumentException("a bad key"))),
        StoreCodec.encode(5, StoreFailure.of(new IllegalStateException("closed"))));
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyAnswerIsAReplyOrAnErrorOfTheStore(byte[] answer) {
    StoreReply reply;
    try {
      reply = StoreCodec.decodeReply(ByteBuffer.wrap(answer));
    } catch (StoreException | IllegalArgumentException failure) {
      assertThat(failure.getMessage()).isNotNull();
      return;
    }
    int bytes = reply.values().stream().mapToInt(StoredValue::size).sum();
    assertThat(bytes + reply.keys().size()).isLessThan(answer.length);
  }
}
