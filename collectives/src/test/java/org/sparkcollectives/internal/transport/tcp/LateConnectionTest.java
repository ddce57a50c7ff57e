package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.internal.transport.Pair;

/** A connection that arrives while the group closes. */
class LateConnectionTest {

  /** Something that happens while the connection is set up. */
  private final AtomicReference<Runnable> meanwhile = new AtomicReference<>();

  private boolean closed;

  /** Is never quite closed, as one on whose event loop that is still to come. */
  private final class Closing extends EmbeddedChannel {
    @Override
    public ChannelPipeline pipeline() {
      Runnable now = meanwhile == null ? null : meanwhile.getAndSet(null);
      if (now != null) {
        now.run();
      }
      return super.pipeline();
    }

    @Override
    protected void doClose() {
      closed = true;
    }
  }

  @Test
  void isClosedIfTheGroupIsClosedBeforeItOffersItsMemory() {
    StreamPairs pairs = new RankOfTwo().pairs();
    EmbeddedChannel offering = new EmbeddedChannel();
    pairs.accepted(1, ConnectionKind.RING_OFFER, offering);
    assertThat(offering.isOpen()).isTrue();
    pairs.breakOff();
    assertThat(offering.isOpen()).isFalse();
  }

  @Test
  void isClosedIfItComesAfterTheGroupIsClosed() {
    StreamPairs pairs = new RankOfTwo().pairs();
    pairs.close(3);
    for (ConnectionKind kind : List.of(ConnectionKind.collectives(0), ConnectionKind.RING_OFFER)) {
      EmbeddedChannel late = new EmbeddedChannel();
      pairs.accepted(1, kind, late);
      assertThat(late.isOpen()).as("%s", kind).isFalse();
    }
    assertThat(pairs.isClosed()).isTrue();
  }

  @Test
  void isNotMadeByARankWhoseGroupIsClosed() {
    StreamPairs pairs = new RankOfTwo().pairs();
    Pair pair = pairs.pair(1);
    pairs.breakOff();
    // Would fail if it connected.
    pair.send(RankOfTwo.TENSOR);
    assertThat(pairs.isClosed()).isTrue();
  }

  @Test
  void isClosedAndLeavesNoMemoryIfThePairIsClosedMeanwhile() {
    StreamPair pair = (StreamPair) new RankOfTwo().pairs().pair(1);
    EmbeddedChannel channel = new Closing();
    meanwhile.set(
        () -> {
          pair.breakOff();
          pair.free();
        });

    pair.accepted(channel);

    assertThat(closed).isTrue();
    ByteBuf bytes = channel.alloc().directBuffer().writeLong(7);
    channel.pipeline().fireChannelRead(bytes);
    assertThat(bytes.refCnt()).isZero();
  }
}
