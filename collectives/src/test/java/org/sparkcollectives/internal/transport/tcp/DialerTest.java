package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.internal.transport.shm.Doorbell;
import org.sparkcollectives.internal.transport.shm.RingSink;
import org.sparkcollectives.internal.transport.shm.SharedFolder;
import org.sparkcollectives.net.EventLoops;

/** A connection to a peer that is offered memory, given up at each moment. */
@EnabledOnOs(OS.LINUX)
class DialerTest {

  private static final int TAKEN = 1;
  private static final int REFUSED = 2;

  private static final ConnectionListener NOBODY =
      new ConnectionListener() {
        @Override
        public void finished(long lastCollective) {}

        @Override
        public void broken(Throwable cause) {}
      };

  /** A connection that is to be made. */
  private final class Attempt {
    private final ConnectionKind kind;
    private final Connector.Setup setup;
    private final CompletableFuture<Channel> connecting = new CompletableFuture<>();
    private final EmbeddedChannel offer = new EmbeddedChannel();
    private final Channel channel;

    Attempt(Connector.Target target, Connector.Setup setup) {
      this.kind = ConnectionKind.ofCode(target.id().kind());
      this.setup = setup;
      if (kind.equals(ConnectionKind.RING_OFFER)) {
        this.channel = offer;
      } else {
        this.channel = new DirectSocketChannel(segments);
        loops.group().register(channel).syncUninterruptibly();
      }
    }

    /** As Netty does: what comes too late to be wanted is closed. */
    void succeeds() {
      if (channel == offer) {
        setup.setUp(channel.pipeline());
      } else {
        channel.eventLoop().submit(() -> setup.setUp(channel.pipeline())).syncUninterruptibly();
      }
      if (!connecting.complete(channel)) {
        channel.close();
      }
    }

    void answers(int answer) {
      offer.writeInbound(Unpooled.wrappedBuffer(new byte[] {(byte) answer}));
    }

    void isClosed() {
      assertThat(channel.closeFuture().awaitUninterruptibly(60_000)).as("%s ends", kind).isTrue();
    }
  }

  private final EventLoops loops = EventLoops.openNio("dialer-test", 1);
  private final SegmentPool segments = new SegmentPool(SegmentPool.SMALL_BYTES);
  private final List<Attempt> attempts = new ArrayList<>();
  private final PairConnection<ByteSink> out = new PairConnection<>();
  private final Doorbell bell = new Doorbell(Runnable::run);
  private int signals;
  @TempDir Path folder;

  private static void thereIsNone(Channel channel) {
    assertThat(channel).as("a channel that is there already").isNull();
  }

  private List<String> mapped() {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains(folder.toString())).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void dial(Path folderOrNull) {
    SharedFolder sharedMemory =
        folderOrNull == null ? null : new SharedFolder(folderOrNull, Runnable::run);
    RankConnector ranks =
        new RankConnector(
            (target, setup) -> {
              attempts.add(new Attempt(target, setup));
              return attempts.get(attempts.size() - 1).connecting;
            },
            "group",
            0,
            new byte[32],
            List.of(endpoint(0), endpoint(1)),
            peer -> NOBODY);
    assertThat(out.begin()).isTrue();
    new Dialer(ranks, ConnectionKind.collectives(0), sharedMemory, bell)
        .dial(1, out, NOBODY, () -> signals++);
  }

  private static Endpoint endpoint(int rank) {
    return new Endpoint(
        rank,
        new NodeAddress("node-" + rank, new Place("host", 2, true), "10.0.0.1", 7000, "1"),
        -1);
  }

  @AfterEach
  void nothingIsLeftOnceItIsFreed() {
    out.close(Channel::close);
    out.free();
    for (Attempt each : attempts) {
      each.offer.releaseOutbound();
      if (each.connecting.isDone() && !each.connecting.isCompletedExceptionally()) {
        each.isClosed();
      }
      each.channel.close().syncUninterruptibly();
    }
    loops.close();
    segments.close();
    assertThat(mapped()).isEmpty();
    bell.close();
  }

  @Test
  void goesThroughTheMemoryIfThatIsTaken() {
    dial(folder);
    assertThat(attempts.get(0).kind).isEqualTo(ConnectionKind.RING_OFFER);
    attempts.get(0).succeeds();
    assertThat(out.end()).isNull();
    attempts.get(0).answers(TAKEN);
    assertThat(out.end()).isInstanceOf(RingSink.class);
    assertThat(out.channel()).isSameAs(attempts.get(0).channel);
    assertThat(signals).isOne();
    assertThat(mapped()).hasSize(1);
  }

  @Test
  void goesOverAConnectionIfTheMemoryIsRefused() {
    dial(folder);
    attempts.get(0).succeeds();
    attempts.get(0).answers(REFUSED);
    attempts.get(0).channel.close();
    assertThat(mapped()).isEmpty();
    assertThat(out.state()).isEqualTo(PairConnection.State.OPENING);
    assertThat(attempts.get(1).kind).isEqualTo(ConnectionKind.collectives(0));
    attempts.get(1).succeeds();
    assertThat(out.end()).isInstanceOf(SocketSink.class);
    assertThat(out.channel()).isSameAs(attempts.get(1).channel);
  }

  @Test
  void goesOverAConnectionIfThereIsNoMemory() {
    dial(folder.resolve("missing"));
    attempts.get(0).succeeds();
    assertThat(attempts.get(0).kind).isEqualTo(ConnectionKind.collectives(0));
    assertThat(out.end()).isInstanceOf(SocketSink.class);
  }

  @Test
  void failsIfTheConnectionIsLostThatOffersTheMemory() {
    dial(folder);
    attempts.get(0).succeeds();
    attempts.get(0).channel.close();
    assertThat(mapped()).isEmpty();
    assertThatThrownBy(out::check)
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("rank 0 lost its path to rank 1");
    assertThat(signals).isPositive();
  }

  @Test
  void failsIfNoConnectionCanBeMade() {
    TransportException refused = new TransportException("refused", 1, "10.0.0.1:7000", null);
    dial(folder);
    attempts.get(0).succeeds();
    attempts.get(0).answers(REFUSED);
    attempts.get(0).channel.close();
    attempts.get(1).connecting.completeExceptionally(refused);
    assertThatThrownBy(out::check).isSameAs(refused);
  }

  @Test
  void leavesNothingIfItIsGivenUpBeforeTheFirstConnectionIsMade() {
    dial(folder);
    out.close(DialerTest::thereIsNone);
    assertThat(attempts.get(0).connecting).isCancelled();
    attempts.get(0).succeeds();
    assertThat(mapped()).isEmpty();
    assertThat(attempts).hasSize(1);
  }

  @Test
  void leavesNothingIfItIsGivenUpBeforeTheMemoryIsTaken() {
    dial(folder);
    attempts.get(0).succeeds();
    out.close(DialerTest::thereIsNone);
    assertThat(attempts.get(0).channel.isOpen()).isFalse();
    assertThat(mapped()).isEmpty();
    assertThat(attempts).hasSize(1);
  }

  /** Gives the connection up when the answer is on its way through the pipeline. */
  private void giveUpBeforeTheAnswerArrives(Attempt offer) {
    offer
        .offer
        .pipeline()
        .addFirst(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void channelRead(ChannelHandlerContext context, Object answer) {
                out.close(DialerTest::thereIsNone);
                context.fireChannelRead(answer);
              }
            });
  }

  @Test
  void makesNoConnectionIfItIsGivenUpBeforeTheMemoryIsRefused() {
    dial(folder);
    Attempt offer = attempts.get(0);
    offer.succeeds();
    giveUpBeforeTheAnswerArrives(offer);
    offer.answers(REFUSED);
    assertThat(attempts).hasSize(1);
    assertThat(mapped()).isEmpty();
  }

  @Test
  void leavesNothingIfItIsGivenUpWhileTheMemoryIsTaken() {
    dial(folder);
    Attempt offer = attempts.get(0);
    offer.succeeds();
    giveUpBeforeTheAnswerArrives(offer);
    offer.answers(TAKEN);
    assertThat(offer.channel.isOpen()).isFalse();
    assertThat(mapped()).isEmpty();
  }

  @Test
  void leavesNoConnectionIfItIsGivenUpWhileThatIsMade() {
    dial(null);
    out.close(DialerTest::thereIsNone);
    assertThat(attempts.get(0).connecting).isCancelled();
    attempts.get(0).succeeds();
    attempts.get(0).isClosed();
  }
}
