package org.sparkcollectives.internal.pointtopoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.internal.pointtopoint.FuzzedConnection.alloc;
import static org.sparkcollectives.internal.pointtopoint.FuzzedConnection.frame;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.FuzzedStream;

/**
 * Tests whatever a peer may answer to a rank that has offered it two messages: each send ends at
 * most once, and one that was refused is never sent.
 */
class TcpMessageSenderFuzzTest {

  /** The events of a send. */
  private static final class Events implements PostedSend.Listener {
    private final List<String> ends = new ArrayList<>();
    private boolean matched;

    @Override
    public void matched() {
      matched = true;
    }

    @Override
    public void sent() {
      ends.add("sent");
    }

    @Override
    public void failed(Throwable cause) {
      ends.add("failed");
    }
  }

  static Stream<byte[]> seeds() {
    byte[] accept = frame(MessageFrames.accept(alloc(), 0));
    byte[] refuse =
        frame(
            MessageFrames.refuse(
                alloc(), 1, new CollectiveMismatchException("rank 0 receives something else")));
    byte[] end = frame(MessageFrames.end(alloc(), 3));
    byte[] unknown = frame(MessageFrames.accept(alloc(), 77));
    return Stream.of(
        FuzzedStream.seed(0, accept, refuse, end),
        FuzzedStream.seed(1, refuse, accept, end),
        FuzzedStream.seed(0, accept, accept),
        FuzzedStream.seed(0, unknown),
        FuzzedStream.seed(0, end, accept),
        FuzzedStream.seed(0, "\0\0\0\1x".getBytes(UTF_8)));
  }

  @MethodSource("seeds")
  @FuzzTest
  void sendsEndOnceAndOneThatWasRefusedNeverMoves(byte[] input) {
    List<String> ends = new ArrayList<>();
    TcpMessageSender sender =
        new TcpMessageSender(
            new ConnectionListener() {
              @Override
              public void finished(long lastCollective) {}

              @Override
              public void broken(Throwable cause) {
                ends.add(cause.getMessage());
              }
            });
    EmbeddedChannel channel = new EmbeddedChannel();
    MessageFrames.addTo(channel.pipeline());
    channel.pipeline().addLast(sender);
    List<Events> sends = List.of(new Events(), new Events());
    for (Events events : sends) {
      HostTensor tensor = HostTensor.allocate(DType.FLOAT64, 3);
      sender.offer(new PostedSend(7, tensor, events));
    }
    FuzzedConnection.receive(channel, input);
    channel.finishAndReleaseAll();
    assertThat(ends.size()).isLessThanOrEqualTo(1);
    for (Events events : sends) {
      assertThat(events.ends.size()).isLessThanOrEqualTo(1);
      assertThat(events.matched || !events.ends.contains("sent")).isTrue();
    }
  }
}
