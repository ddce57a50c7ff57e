package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.net.EventLoops;

/** A connection that arrives while the group closes. */
class LateConnectionTest {

  private final EventLoops loops = EventLoops.openNio("late-test", 1);

  /** Something that happens while the connection is set up. */
  private final AtomicReference<Runnable> meanwhile = new AtomicReference<>();

  /** While it is set up, something else happens. */
  private final class Interrupted extends DirectSocketChannel {

    Interrupted(SegmentPool segments) {
      super(segments);
    }

    @Override
    public ChannelPipeline pipeline() {
      Runnable now = meanwhile.getAndSet(null);
      if (now != null) {
        now.run();
      }
      return super.pipeline();
    }
  }

  @AfterEach
  void end() {
    loops.close();
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
  void isClosedIfItComesAfterTheGroupIsClosed() throws IOException {
    StreamPairs pairs = new RankOfTwo().pairs();
    pairs.close(3);
    EmbeddedChannel offering = new EmbeddedChannel();
    pairs.accepted(1, ConnectionKind.RING_OFFER, offering);
    assertThat(offering.isOpen()).isFalse();
    try (DirectConnection late = new DirectConnection(loops)) {
      late.onLoop(() -> pairs.accepted(1, ConnectionKind.collectives(0), late.channel()));
      late.awaitClosed();
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
  void isClosedAndLeavesNoMemoryIfThePairIsClosedMeanwhile() throws IOException {
    StreamPair pair = (StreamPair) new RankOfTwo().pairs().pair(1);
    ByteBuf bytes = Unpooled.directBuffer().writeLong(7);
    try (DirectConnection connection = new DirectConnection(loops, Interrupted::new)) {
      connection.onLoop(
          () -> {
            meanwhile.set(
                () -> {
                  pair.breakOff();
                  pair.free();
                });
            pair.accepted(connection.channel());
            // Before the event loop has quite closed it.
            connection.channel().pipeline().fireChannelRead(bytes);
          });
      connection.awaitClosed();
    }
    assertThat(bytes.refCnt()).isZero();
  }
}
