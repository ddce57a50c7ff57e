package org.sparkcollectives.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Cancellation;
import org.sparkcollectives.transport.Endpoint;
import org.sparkcollectives.transport.EventCount;
import org.sparkcollectives.transport.OperationHeader;
import org.sparkcollectives.transport.PathListener;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.transport.shm.SharedFile;
import org.sparkcollectives.transport.shm.SharedRing;

/** What a rank hears of a connection that it ends itself, because a message is not for it. */
@EnabledOnOs(OS.LINUX)
class RefusedMessageTest {

  private static final HostTensor TENSOR = HostTensor.allocate(DType.FLOAT32, 3);

  private final List<String> events = new ArrayList<>();

  private TcpPairs pairs() {
    Cancellation never =
        new Cancellation() {
          @Override
          public void check() {}

          @Override
          public void interrupted() {}
        };
    PathListener listener =
        new PathListener() {
          @Override
          public void broken(int peer, TransportException cause) {
            events.add("broken: " + cause.getMessage());
          }

          @Override
          public void finished(int peer, long lastCollective) {
            events.add("finished");
          }

          @Override
          public void refused(int peer, CollectiveMismatchException cause) {
            events.add("refused");
          }
        };
    return new TcpPairs(
        null,
        "group",
        0,
        2,
        0,
        new byte[32],
        rank -> new Endpoint(rank, "node-" + rank, "", "10.0.0.1", 7000, "1", 2, -1),
        new Progress(new EventCount(Duration.ZERO), never),
        new SocketWait(),
        null,
        () -> allReduce(7),
        listener);
  }

  private static OperationHeader allReduce(long number) {
    return new OperationHeader(OpType.ALL_REDUCE, number, DType.FLOAT32, TENSOR.count());
  }

  @Test
  void itsOwnEndOfAConnectionBesideSharedMemoryIsNoNews(@TempDir Path folder) throws IOException {
    try (SharedFile file = SharedFile.create(folder, SharedRing.bytes(ByteSink.SEGMENT_BYTES))) {
      TcpPairs pairs = pairs();
      TcpPair pair = (TcpPair) pairs.pair(1);
      EmbeddedChannel channel = new EmbeddedChannel();
      channel.pipeline().addLast(new NettySource(channel, pairs.arrivalsOf(1)));
      pair.accepted(channel, new SharedRing(file, ByteSink.SEGMENT_BYTES));

      OutgoingMessage other = new OutgoingMessage();
      other.begin(new MessageHeader(allReduce(8), TENSOR.dtype(), TENSOR.count()), TENSOR);
      other.advance(new RingSink(new SharedRing(file, ByteSink.SEGMENT_BYTES)));

      assertThatThrownBy(() -> pair.receive(HostTensor.allocate(DType.FLOAT32, 3)))
          .isInstanceOf(CollectiveMismatchException.class);
      channel.runPendingTasks();
      assertThat(channel.isOpen()).isFalse();
      assertThat(events).isEmpty();
      channel.releaseOutbound();
    }
  }
}
