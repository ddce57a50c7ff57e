package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.OperationHeader;

/** Any forty bytes are a header, which says what they say, or the end, or refused. */
class MessageHeaderFuzzTest {

  private static final int ZEROS = 6;

  static Stream<byte[]> seeds() {
    OperationHeader sum =
        new OperationHeader(OpType.ALL_REDUCE, 7, DType.BFLOAT16, 1000, ReduceOp.Kind.SUM, -1, 0);
    OperationHeader scatter =
        new OperationHeader(OpType.SCATTER, 1L << 40, DType.COMPLEX128, 0, null, 3, 0x1234);
    return Stream.of(
        bytes(new MessageHeader(sum, DType.FLOAT32, 500)),
        bytes(new MessageHeader(scatter, DType.COMPLEX128, Long.MAX_VALUE / 16)),
        MessageHeader.end(-1),
        MessageHeader.end(41));
  }

  private static byte[] bytes(MessageHeader header) {
    ByteBuffer bytes = ByteBuffer.allocate(MessageHeader.BYTES);
    header.write(bytes);
    return bytes.array();
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyBytesAreAHeaderThatSaysTheSameOrTheEndOrRefused(byte[] input) {
    byte[] bytes = Arrays.copyOf(input, MessageHeader.BYTES);
    ByteBuffer source = ByteBuffer.wrap(bytes);
    MessageHeader header;
    try {
      header = MessageHeader.read(source);
    } catch (TransportException e) {
      assertThat(e).hasMessageStartingWith("it carried ");
      return;
    }
    assertThat(source.hasRemaining()).isFalse();
    if (header == null) {
      byte[] end = MessageHeader.end(MessageHeader.lastCollective(source));
      assertThat(Arrays.copyOfRange(bytes, 8, 16)).isEqualTo(Arrays.copyOfRange(end, 8, 16));
      return;
    }
    assertThat(header.payloadBytes()).isNotNegative();
    assertThat(header.toString()).isNotBlank();
    // What the sender must leave zero says nothing.
    bytes[ZEROS] = 0;
    bytes[ZEROS + 1] = 0;
    assertThat(bytes(header)).isEqualTo(bytes);
  }
}
