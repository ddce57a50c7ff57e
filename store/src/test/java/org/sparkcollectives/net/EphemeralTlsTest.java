package org.sparkcollectives.net;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslHandler;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests TLS whose certificates only the group's secret vouches for. */
class EphemeralTlsTest extends HandshakeWire {

  private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

  @BeforeEach
  void encrypt() {
    serverSecurity = TransportSecurity.ephemeralTls();
    clientSecurity = TransportSecurity.ephemeralTls();
  }

  private byte[] see(byte[] bytes) {
    seen.writeBytes(bytes);
    return bytes;
  }

  private static String text(ByteBuf bytes) {
    String text = bytes.toString(UTF_8);
    bytes.release();
    return text;
  }

  @Test
  void bothSidesAgreeAndNothingOfTheirsIsSeenOnTheWire() throws Exception {
    open(SECRET);
    exchange(this::see, this::see);
    assertThat(done).isCompletedWithValue(client);
    assertThat(accepted).containsExactly(ID);
    client.writeOutbound(Unpooled.copiedBuffer("nobody may see this", UTF_8));
    server.writeOutbound(Unpooled.copiedBuffer("and not that either", UTF_8));
    exchange(this::see, this::see);
    assertThat(text(server.readInbound())).isEqualTo("nobody may see this");
    assertThat(text(client.readInbound())).isEqualTo("and not that either");
    assertThat(seen.toString(ISO_8859_1))
        .isNotEmpty()
        .doesNotContain(ID.group())
        .doesNotContain("spark-collectives")
        .doesNotContain("nobody may see")
        .doesNotContain("and not that");
  }

  @Test
  void eachConnectionDrawsKeysOfItsOwnAndGoesOnFromNoOther() throws Exception {
    HandshakeWire next = new HandshakeWire();
    List<Integer> hellos = new ArrayList<>();
    for (HandshakeWire wire : List.of(this, next)) {
      wire.openWith(TransportSecurity.ephemeralTls(), TransportSecurity.ephemeralTls());
      List<byte[]> said = new ArrayList<>();
      wire.exchange(
          bytes -> {
            said.add(bytes);
            return bytes;
          },
          UnaryOperator.identity());
      assertThat(wire.done).isCompletedWithValue(wire.client);
      SSLEngine engine = wire.client.pipeline().get(SslHandler.class).engine();
      assertThat(engine.getSession().getProtocol()).isEqualTo("TLSv1.3");
      assertThat(engine.getSession().getCipherSuite()).isEqualTo("TLS_AES_128_GCM_SHA256");
      hellos.add(said.get(0).length);
    }
    next.release();
    // To resume a session, a client would send its ticket.
    assertThat(hellos.get(1)).isEqualTo(hellos.get(0));
  }

  @Test
  void aWrongSecretIsRefusedAndBothSidesSayWhy() throws Exception {
    open("a guess".getBytes(UTF_8));
    exchange();
    assertThat(clientFailure()).hasMessageContaining("refused the secret");
    assertThat(accepted).isEmpty();
    assertThat(refused).singleElement().asString().contains("secret").contains(ID.group());
    assertThat(server.isOpen()).isFalse();
  }

  @Test
  void somebodyInTheMiddleWithACertificateOfHisOwnGetsNowhere() throws Exception {
    open(SECRET);
    try (Middle middle = new Middle(true)) {
      middle.exchange();
      assertThat(middle.heard).as("the middle works").contains(ID.group());
    }
    assertThat(accepted).isEmpty();
    assertThat(refused).singleElement().asString().contains("does not have the secret");
    assertThat(clientFailure()).hasMessageContaining("refused the secret");
  }

  @Test
  void nobodyInTheMiddleCanTalkTheServerOutOfEncryption() throws Exception {
    serverSecurity = TransportSecurity.plain();
    open(SECRET);
    try (Middle middle = new Middle(false)) {
      middle.protection = Protection.NONE;
      middle.exchange();
      assertThat(middle.heard).as("the middle works").contains(ID.group());
    }
    assertThat(accepted).isEmpty();
    assertThat(refused).singleElement().asString().contains("does not have the secret");
    assertThat(done).isCompletedExceptionally();
  }

  /** Terminates TLS on both sides, between the client and the server, with a key of its own. */
  private final class Middle implements AutoCloseable {

    private final EmbeddedChannel toClient;
    private final EmbeddedChannel toServer;
    private String heard = "";
    private Protection protection;

    Middle(boolean serverEncrypts) {
      EphemeralTls own = new EphemeralTls();
      toClient = new EmbeddedChannel(new SslHandler(own.engine(false)));
      toServer =
          serverEncrypts
              ? new EmbeddedChannel(new SslHandler(own.engine(true)))
              : new EmbeddedChannel();
    }

    void exchange() {
      boolean moved = true;
      while (moved) {
        server.runPendingTasks();
        client.runPendingTasks();
        moved = move(client, toClient, UnaryOperator.identity());
        moved |= pass(toClient, toServer, protection);
        moved |= move(toServer, server, UnaryOperator.identity());
        moved |= move(server, toServer, UnaryOperator.identity());
        moved |= pass(toServer, toClient, null);
        moved |= move(toClient, client, UnaryOperator.identity());
      }
    }

    private boolean pass(EmbeddedChannel from, EmbeddedChannel to, Protection claimed) {
      boolean any = false;
      for (ByteBuf part = from.readInbound(); part != null; part = from.readInbound()) {
        if (claimed != null && part.readableBytes() > Short.BYTES) {
          part.setByte(part.writerIndex() - 1, claimed.code());
          protection = null;
        }
        heard += part.toString(UTF_8);
        to.writeOneOutbound(part);
        to.flushOutbound();
        any = true;
      }
      return any;
    }

    @Override
    public void close() {
      toClient.finishAndReleaseAll();
      toServer.finishAndReleaseAll();
    }
  }

  @Test
  void whatAClientHasSaidCountsNothingWhenItIsSaidAgain() throws Exception {
    List<byte[]> said = new ArrayList<>();
    open(SECRET);
    exchange(
        bytes -> {
          said.add(bytes.clone());
          return bytes;
        },
        UnaryOperator.identity());
    assertThat(accepted).hasSize(1);
    HandshakeWire again = new HandshakeWire();
    again.openWith(serverSecurity, clientSecurity);
    for (byte[] each : said) {
      if (again.server.isOpen()) {
        again.server.writeInbound(Unpooled.wrappedBuffer(each));
        again.server.runPendingTasks();
      }
    }
    assertThat(again.accepted).isEmpty();
    assertThat(again.refused).singleElement().asString().contains("TLS: ");
    assertThat(again.server.isOpen()).isFalse();
    again.release();
  }

  @Test
  void aClientThatSendsAByteEachSecondHasNoMoreTimeThanAnother() throws Exception {
    open(SECRET);
    ByteBuf hello = client.readOutbound();
    for (int second = 0; second < 10; second++) {
      assertThat(server.isOpen()).isTrue();
      server.writeInbound(hello.readRetainedSlice(1));
      server.advanceTimeBy(1, TimeUnit.SECONDS);
      server.runScheduledPendingTasks();
    }
    hello.release();
    assertThat(refused).containsExactly("no handshake within 10000 ms");
    assertThat(server.isOpen()).isFalse();
  }

  @Test
  void aServerThatSaysNothingIsGivenUpInTimeAndTriedAgain() throws Exception {
    open(SECRET);
    client.advanceTimeBy(11, TimeUnit.SECONDS);
    client.runScheduledPendingTasks();
    assertThat(clientFailure()).hasMessageContaining("did not answer within 10000 ms");
    assertThat(clientFailure().isWorthARetry()).isTrue();
  }

  @Test
  void anOlderTlsIsRefused() throws Exception {
    open(SECRET);
    SSLEngine older = new EphemeralTls().engine(true);
    older.setEnabledProtocols(new String[] {"TLSv1.2"});
    older.setEnabledCipherSuites(new String[] {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"});
    EmbeddedChannel stranger = new EmbeddedChannel(new SslHandler(older));
    assertThat(move(stranger, server, UnaryOperator.identity())).isTrue();
    assertThat(refused).singleElement().asString().contains("TLS: ");
    assertThat(server.isOpen()).isFalse();
    stranger.releaseOutbound();
  }

  @Test
  void whatIsChangedOnTheWayEndsTheConnectionAndIsNotPassedOn() throws Exception {
    open(SECRET);
    exchange();
    List<Throwable> failures = new ArrayList<>();
    server
        .pipeline()
        .addLast(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                failures.add(cause);
              }
            });
    client.writeOutbound(Unpooled.copiedBuffer("ten to Alice", UTF_8));
    move(
        client,
        server,
        bytes -> {
          bytes[bytes.length - 20] ^= 1;
          return bytes;
        });
    assertThat(failures).isNotEmpty();
    assertThat(server.isOpen()).isFalse();
    Object passedOn = server.readInbound();
    assertThat(passedOn).isNull();
  }
}
