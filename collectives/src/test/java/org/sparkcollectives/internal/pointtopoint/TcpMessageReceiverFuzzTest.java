package org.sparkcollectives.internal.pointtopoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.internal.pointtopoint.FuzzedConnection.alloc;
import static org.sparkcollectives.internal.pointtopoint.FuzzedConnection.frame;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.FuzzedStream;

/**
 * Tests whatever a peer may send on a connection of messages, to a rank with two receives: each
 * ends once, nothing beside its tensor is written, and the path's end is reported once.
 */
class TcpMessageReceiverFuzzTest {

  private static final int COUNT = 4;
  private static final int TAG = 7;
  private static final int UNTOUCHED = -1;

  /** The events of a receive and of the path. */
  private static final class Events implements PostedReceive.Listener, ConnectionListener {
    private final List<String> ends = new ArrayList<>();
    private boolean matched;
    private int broken;

    @Override
    public void matched(int source) {
      matched = true;
      assertThat(source).isEqualTo(1);
    }

    @Override
    public void received() {
      ends.add("received");
    }

    @Override
    public void failed(Throwable cause) {
      ends.add(cause.getMessage());
    }

    @Override
    public void finished(long lastCollective) {}

    @Override
    public void broken(Throwable cause) {
      broken++;
    }
  }

  static Stream<byte[]> seeds() {
    byte[] offer = frame(MessageFrames.offer(alloc(), 0, TAG, DType.INT32, COUNT));
    byte[] second = frame(MessageFrames.offer(alloc(), 1, TAG, DType.INT32, COUNT));
    byte[] otherType = frame(MessageFrames.offer(alloc(), 1, TAG, DType.INT64, COUNT));
    byte[] negative = frame(MessageFrames.offer(alloc(), 2, TAG, DType.INT32, -1));
    byte[] end = frame(MessageFrames.end(alloc(), 3));
    return Stream.of(
        FuzzedStream.seed(0, offer, data(0, COUNT), end),
        FuzzedStream.seed(3, offer, second, data(1, 2), data(0, COUNT), data(1, 2), end),
        FuzzedStream.seed(0, offer, data(0, COUNT + 1)),
        FuzzedStream.seed(0, offer, offer, data(0, COUNT)),
        FuzzedStream.seed(0, second, offer, data(1, COUNT), data(0, COUNT)),
        FuzzedStream.seed(0, data(0, COUNT)),
        FuzzedStream.seed(1, otherType, negative),
        FuzzedStream.seed(0, end, offer),
        FuzzedStream.seed(0, frame(Unpooled.buffer().writeByte(9))));
  }

  private static byte[] data(long id, int count) {
    return frame(
        Unpooled.buffer().writeByte(MessageFrames.DATA).writeLong(id).writeZero(4 * count));
  }

  @MethodSource("seeds")
  @FuzzTest
  void receivesEndOnceAndNothingBesideTheirTensorsIsWritten(byte[] input) {
    int[] memory = new int[5 * COUNT];
    Arrays.fill(memory, UNTOUCHED);
    HostTensor all = HostTensor.wrap(DType.INT32, memory);
    Events first = new Events();
    Events second = new Events();
    Events path = new Events();
    MessageMatcher matcher = new MessageMatcher(0);
    matcher.post(new PostedReceive(1, TAG, all.slice(COUNT, COUNT), first));
    matcher.post(
        new PostedReceive(PostedReceive.ANY_SOURCE, TAG, all.slice(3 * COUNT, COUNT), second));
    EmbeddedChannel channel = new EmbeddedChannel();
    TcpMessageReceiver.addTo(channel.pipeline(), 1, matcher, path);
    FuzzedConnection.receive(channel, input);
    matcher.close();
    channel.finishAndReleaseAll();
    for (Events receive : List.of(first, second)) {
      if (receive.matched) {
        assertThat(receive.ends).as("nothing waits for a connection that is gone").hasSize(1);
      } else {
        assertThat(receive.ends.size()).isLessThanOrEqualTo(1);
      }
    }
    assertThat(path.broken).isLessThanOrEqualTo(1);
    for (int from : new int[] {0, 2 * COUNT, 4 * COUNT}) {
      assertThat(Arrays.copyOfRange(memory, from, from + COUNT)).containsOnly(UNTOUCHED);
    }
  }
}
