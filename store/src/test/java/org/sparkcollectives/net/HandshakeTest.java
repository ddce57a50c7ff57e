package org.sparkcollectives.net;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests who is accepted, who is refused, and what both sides report then. */
class HandshakeTest extends HandshakeWire {

  @Test
  void bothSidesAgreeAndLeaveTheConnectionToOthers() throws Exception {
    open(SECRET);
    exchange();
    assertThat(done).isCompletedWithValue(client);
    assertThat(accepted).containsExactly(ID);
    assertThat(refused).isEmpty();
    assertThat(client.pipeline().names()).noneMatch(name -> name.contains("andshake"));
    assertThat(server.pipeline().names()).noneMatch(name -> name.contains("andshake"));
    server.writeInbound(Unpooled.wrappedBuffer(new byte[] {1, 2, 3}));
    ByteBuf raw = server.readInbound();
    assertThat(ByteBufUtil.getBytes(raw)).containsExactly(1, 2, 3);
    raw.release();
  }

  @Test
  void bytesThatFollowTheLastMessageReachTheNextHandler() throws Exception {
    open(SECRET);
    boolean[] early = new boolean[1];
    exchange(
        UnaryOperator.identity(),
        bytes -> {
          // The last message is the one with a proof of 32 bytes.
          if (bytes.length < 2 + 7 + 32) {
            return bytes;
          }
          early[0] = true;
          byte[] longer = Arrays.copyOf(bytes, bytes.length + 2);
          longer[bytes.length] = 42;
          longer[bytes.length + 1] = 43;
          return longer;
        });
    assertThat(early[0]).isTrue();
    ByteBuf raw = client.readInbound();
    assertThat(ByteBufUtil.getBytes(raw)).containsExactly(42, 43);
    raw.release();
  }

  @Test
  void aWrongSecretIsRefusedAndBothSidesSayWhy() throws Exception {
    open("a guess".getBytes(UTF_8));
    exchange();
    assertThat(clientFailure()).hasMessageContaining("refused the secret");
    assertThat(clientFailure().isWorthARetry()).isFalse();
    assertThat(accepted).isEmpty();
    assertThat(refused).singleElement().asString().contains("secret").contains(ID.group());
    assertThat(server.isOpen()).isFalse();
  }

  @Test
  void nothingOfTheHelloCanBeChangedOnTheWay() throws Exception {
    open(SECRET);
    boolean[] first = {true};
    exchange(
        bytes -> {
          if (first[0]) {
            first[0] = false;
            bytes[2 + 6 + HandshakeMessages.NONCE_BYTES + 3] ^= 1; // The rank that connects.
          }
          return bytes;
        },
        UnaryOperator.identity());
    assertThat(first[0]).isFalse();
    assertThat(accepted).isEmpty();
    assertThat(refused).hasSize(1);
    assertThat(done).isCompletedExceptionally();
  }

  @Test
  void aServerWithoutTheSecretIsNotBelieved() throws Exception {
    open(SECRET);
    exchange(
        UnaryOperator.identity(),
        bytes -> {
          if (bytes.length >= 2 + 7 + 32) {
            bytes[bytes.length - 1] ^= 1;
          }
          return bytes;
        });
    assertThat(clientFailure()).hasMessageContaining("does not have the secret");
  }

  @Test
  void aServerThatSendsTheClientsOwnProofBackIsNotBelieved() throws Exception {
    open(SECRET);
    byte[][] proof = new byte[1][];
    exchange(
        bytes -> {
          proof[0] = bytes;
          return bytes;
        },
        bytes -> bytes.length >= 2 + 7 + 32 ? proof[0] : bytes);
    assertThat(clientFailure()).hasMessageContaining("does not have the secret");
  }

  @Test
  void nothingThatTheSecretCouldBeGuessedOnIsGivenToAStranger() throws Exception {
    open(SECRET);
    move(client, server, UnaryOperator.identity());
    server.runPendingTasks();
    int sent = 0;
    for (ByteBuf part = server.readOutbound(); part != null; part = server.readOutbound()) {
      sent += part.readableBytes();
      part.release();
    }
    assertThat(sent).isEqualTo(2 + 7 + HandshakeMessages.NONCE_BYTES);
  }

  @Test
  void anotherVersionIsNamedOnBothSides() throws Exception {
    open(SECRET);
    exchange(
        bytes -> {
          bytes[2 + 5] = 9;
          return bytes;
        },
        UnaryOperator.identity());
    assertThat(clientFailure()).hasMessageContaining("version");
    assertThat(refused).singleElement().asString().contains("version");
  }

  static List<byte[]> garbage() {
    return List.of(
        "GET / HTTP/1.1\r\n\r\n".getBytes(UTF_8),
        new byte[] {0, 2, 7, 7},
        new byte[] {(byte) 0xff, (byte) 0xff, 0});
  }

  @ParameterizedTest
  @MethodSource("garbage")
  void randomBytesAreRefusedWithTheSameWords(byte[] garbage) throws Exception {
    open(SECRET);
    server.writeInbound(Unpooled.wrappedBuffer(garbage));
    assertThat(refused).containsExactly("it does not speak this protocol");
    assertThat(server.isOpen()).isFalse();
  }

  @Test
  void aServerThatIsSomethingElseIsGivenUpAtOnce() throws Exception {
    open(SECRET);
    client.writeInbound(Unpooled.wrappedBuffer(new byte[] {0, 8, 'H', 'T', 'T', 'P', 1, 2, 3, 4}));
    assertThat(clientFailure()).hasMessageContaining("not a rank or store of this library");
    assertThat(clientFailure().isWorthARetry()).isFalse();
  }

  @Test
  void silenceEndsWithTheTime() throws Exception {
    open(SECRET);
    client.advanceTimeBy(9, TimeUnit.SECONDS);
    client.runScheduledPendingTasks();
    assertThat(done).isNotDone();
    client.advanceTimeBy(2, TimeUnit.SECONDS);
    client.runScheduledPendingTasks();
    assertThat(clientFailure()).hasMessageContaining("did not answer within 10000 ms");
    server.advanceTimeBy(11, TimeUnit.SECONDS);
    server.runScheduledPendingTasks();
    assertThat(refused).singleElement().asString().contains("no handshake within 10000 ms");
    assertThat(server.isOpen()).isFalse();
  }

  @Test
  void aClientThatSendsAByteEachSecondHasNoMoreTimeThanAnother() throws Exception {
    open(SECRET);
    byte[] hello = frame(HandshakeMessages.hello(new byte[16], ID, Protection.NONE));
    for (int second = 0; second < 10; second++) {
      assertThat(server.isOpen()).isTrue();
      server.writeInbound(Unpooled.wrappedBuffer(hello, second, 1));
      server.advanceTimeBy(1, TimeUnit.SECONDS);
      server.runScheduledPendingTasks();
    }
    assertThat(refused).containsExactly("no handshake within 10000 ms");
    assertThat(server.isOpen()).isFalse();
  }

  @Test
  void aConnectionThatMakesRoomForAnotherIsClosedWithTheReasonInTheLog() throws Exception {
    unauthenticated = new UnauthenticatedConnections(1);
    open(SECRET);
    HandshakeWire next = new HandshakeWire();
    next.unauthenticated = unauthenticated;
    next.open(SECRET);
    server.runPendingTasks();
    assertThat(server.isOpen()).isFalse();
    assertThat(refused).singleElement().asString().contains("too many connections");
    next.exchange();
    assertThat(next.done).isCompletedWithValue(next.client);
    // It no longer counts: a third connection fits without displacing any.
    HandshakeWire third = new HandshakeWire();
    third.unauthenticated = unauthenticated;
    third.open(SECRET);
    next.server.runPendingTasks();
    assertThat(next.server.isOpen()).isTrue();
    next.release();
    third.release();
  }

  @Test
  void aGroupThatComesLateIsWaitedFor() throws Exception {
    serverSecret = new CompletableFuture<>();
    open(SECRET);
    exchange();
    assertThat(done).isNotDone();
    serverSecret.complete(SECRET);
    exchange();
    assertThat(done).isCompletedWithValue(client);
  }

  @Test
  void aGroupThatNeverComesIsNamedInOneLineOfTheLog() throws Exception {
    serverSecret = CompletableFuture.failedFuture(new IllegalStateException("no such group"));
    open(SECRET);
    exchange();
    assertThat(clientFailure()).hasMessageContaining("does not know group");
    assertThat(clientFailure().isWorthARetry()).isTrue();
    assertThat(refused).singleElement().asString().contains("is not here");
  }
}
