package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.FuzzedStream;
import org.sparkcollectives.testing.ReceivedBytes;

/**
 * Tests the frames of any stream of bytes against a decoder of ten lines that has the whole stream
 * at once.
 */
class FrameDecoderFuzzTest {

  private static final int MOST = 300;

  static Stream<byte[]> seeds() {
    byte[] two = {0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0};
    byte[] most = ByteBuffer.allocate(4 + MOST).putInt(MOST).array();
    byte[] tooLong = ByteBuffer.allocate(8).putInt(MOST + 1).array();
    byte[] negative = {-1, -1, -1, -1, 0};
    return Stream.of(
        FuzzedStream.seed(0, two, most),
        FuzzedStream.seed(1, two, two),
        FuzzedStream.seed(7, most, two),
        FuzzedStream.seed(5, two, tooLong),
        FuzzedStream.seed(3, negative));
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyStreamIsCutWhereItsLengthsSayAndEndsAtTheFirstThatIsOutOfBounds(byte[] input) {
    FuzzedStream stream = new FuzzedStream(input);
    UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
    ReceivedBytes received = new ReceivedBytes();
    EmbeddedChannel channel = new EmbeddedChannel(new FrameDecoder(MOST), received);
    channel.config().setAllocator(allocator);
    for (byte[] piece : stream.pieces()) {
      if (channel.isOpen()) {
        channel.writeInbound(Unpooled.wrappedBuffer(piece));
        assertThat(memory(allocator)).isLessThanOrEqualTo(MOST);
      }
    }
    List<byte[]> frames = new ArrayList<>();
    boolean inBounds = cut(stream.bytes(), frames);
    assertThat(received.messages()).containsExactlyElementsOf(frames);
    assertThat(channel.isOpen()).isEqualTo(inBounds);
    assertThat(received.failures()).hasSize(inBounds ? 0 : 1);
    assertThat(received.failures()).allMatch(TooLongFrameException.class::isInstance);
    channel.finishAndReleaseAll();
    assertThat(memory(allocator)).isZero();
  }

  private static long memory(UnpooledByteBufAllocator allocator) {
    return allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory();
  }

  /** Cuts the bytes into frames, and returns whether all lengths are in bounds. */
  private static boolean cut(byte[] bytes, List<byte[]> frames) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    while (in.remaining() >= Integer.BYTES) {
      int length = in.getInt();
      if (length < 0 || length > MOST) {
        return false;
      }
      if (in.remaining() < length) {
        return true;
      }
      byte[] frame = new byte[length];
      in.get(frame);
      frames.add(frame);
    }
    return true;
  }
}
