package org.sparkcollectives.internal.object;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * Tests whatever a rank may send as an object: the receiver reads no more than came, asks for no
 * frame larger than the largest, and ends with the object, its sender's failure, or an error with a
 * message.
 */
class FrameInputFuzzTest {

  private static byte[] first(char kind, int piece, int next, byte... content) {
    ByteBuffer frame = ByteBuffer.allocate(Frame.FIRST_BYTES);
    return frame.put((byte) kind).putInt(piece).putInt(next).put(content).array();
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  static Stream<byte[]> seeds() {
    byte[] second = ByteBuffer.allocate(13).put((byte) 'O').putInt(4).putInt(0).putInt(77).array();
    byte[] failure = ByteBuffer.allocate(13).put((byte) 'F').putInt(4).putInt(0).putInt(7).array();
    return Stream.of(
        first('O', 3, 0, (byte) 1, (byte) 2, (byte) 3),
        join(first('O', Frame.FIRST_BYTES - 9, 13), second),
        join(first('O', 5, 13), failure),
        first('F', 2, 0),
        first('O', Frame.FIRST_BYTES, 0),
        first('O', -1, 0),
        first('O', 0, 9),
        first('O', 0, Frame.MOST_BYTES + 1),
        join(first('O', 0, 13), first('x', 0, 0)),
        new byte[3]);
  }

  /** Delivers what the other rank has sent, and then fails as a group whose other rank is gone. */
  private static final class Sent implements FrameInput.Path {
    private final byte[] bytes;
    private int position;

    Sent(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public Work receive(int index, Tensor frame) {
      int length = Math.toIntExact(frame.count());
      assertThat(length).isBetween(1, Frame.MOST_BYTES);
      CompletableFuture<List<Tensor>> received = new CompletableFuture<>();
      if (length > bytes.length - position) {
        received.completeExceptionally(new CollectiveException("the other rank is gone"));
      } else {
        frame.copyFrom(Tensor.of(Arrays.copyOfRange(bytes, position, position + length)));
        position += length;
        received.complete(List.of(frame));
      }
      return Work.of(OpType.RECV, index, received);
    }
  }

  @MethodSource("seeds")
  @FuzzTest
  void whateverComesIsAnObjectOrSaidToBeNone(byte[] input) {
    Sent sent = new Sent(input);
    byte[] buffer = new byte[100];
    long read = 0;
    try {
      FrameInput in = new FrameInput(sent, "receive of rank 1");
      for (int taken = in.read(buffer, 0, 100); taken >= 0; taken = in.read(buffer, 0, 100)) {
        assertThat(taken).isPositive();
        read += taken;
      }
      assertThat(in.failure()).isNull();
      in.drain();
      in.requireWhole();
    } catch (CollectiveMismatchException e) {
      assertThat(e).hasMessageContaining("that are no part of an object");
    } catch (CollectiveException e) {
      assertThat(e).hasMessage("the other rank is gone");
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("has failed to");
    }
    assertThat(read).isLessThanOrEqualTo(sent.position);
  }
}
