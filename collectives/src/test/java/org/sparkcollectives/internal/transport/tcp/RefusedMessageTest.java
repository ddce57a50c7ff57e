package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.shm.Doorbell;
import org.sparkcollectives.internal.transport.shm.RingSink;
import org.sparkcollectives.internal.transport.shm.SharedRing;
import org.sparkcollectives.spi.tensor.HostTensor;

/** What a rank hears of a connection that it ends itself, because a message is not for it. */
@EnabledOnOs(OS.LINUX)
class RefusedMessageTest {

  private final RankOfTwo rank = new RankOfTwo();

  @Test
  void itsOwnEndOfAConnectionBesideSharedMemoryIsNoNews(@TempDir Path folder) throws IOException {
    try (SharedRing sent = SharedRing.create(folder);
        SharedRing received = SharedRing.open(sent.address())) {
      StreamPairs pairs = rank.pairs();
      StreamPair pair = (StreamPair) pairs.pair(1);
      EmbeddedChannel channel = new EmbeddedChannel();
      channel.pipeline().addLast(new ConnectionEnd(pairs.listenerOf(1)));
      pair.accepted(channel, received);

      OutgoingMessage other = new OutgoingMessage();
      other.begin(
          new MessageHeader(
              RankOfTwo.allReduce(8), RankOfTwo.TENSOR.dtype(), RankOfTwo.TENSOR.count()),
          RankOfTwo.TENSOR);
      other.advance(new RingSink(sent, new Doorbell(Runnable::run)));

      assertThatThrownBy(() -> pair.receive(HostTensor.allocate(DType.FLOAT32, 3)))
          .isInstanceOf(CollectiveMismatchException.class);
      channel.runPendingTasks();
      assertThat(channel.isOpen()).isFalse();
      // The refusal is told, and before it ends the connection.
      assertThat(rank.events).containsExactly("refused");
      channel.releaseOutbound();
    }
  }
}
