package org.sparkcollectives.store.net;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.Threads;

/**
 * Both sides of the handshake, joined by hand, so that a test can sit on the wire and at the clock.
 */
class HandshakeTest {

  private static final ConnectionId ID = new ConnectionId("app/stage 1.0/world", 3, 5, 1);
  private static final byte[] SECRET = "the secret".getBytes(UTF_8);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final List<ConnectionId> accepted = new ArrayList<>();
  private final List<String> refused = new ArrayList<>();
  private CompletableFuture<byte[]> serverSecret = CompletableFuture.completedFuture(SECRET);
  private TransportSecurity serverSecurity = TransportSecurity.plain();
  private TransportSecurity clientSecurity = TransportSecurity.plain();
  private final CompletableFuture<Channel> done = new CompletableFuture<>();
  private final EmbeddedChannel server = new EmbeddedChannel(false, false);
  private final EmbeddedChannel client = new EmbeddedChannel(false, false);

  private void open(byte[] clientSecret) throws Exception {
    ServerHandshake.Gate gate =
        new ServerHandshake.Gate() {
          @Override
          public CompletableFuture<byte[]> secretFor(ConnectionId id) {
            return serverSecret;
          }

          @Override
          public void accepted(ConnectionId id, ChannelPipeline pipeline) {
            accepted.add(id);
          }

          @Override
          public void refused(String remoteAddress, String why) {
            refused.add(why);
          }
        };
    for (EmbeddedChannel channel : List.of(server, client)) {
      channel.freezeTime();
    }
    server
        .pipeline()
        .addLast(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                ServerHandshake.addTo(channel.pipeline(), gate, serverSecurity, TIMEOUT);
              }
            });
    client
        .pipeline()
        .addLast(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                ClientHandshake.addTo(
                    channel.pipeline(), ID, clientSecret, clientSecurity, TIMEOUT, done);
              }
            });
    server.register();
    client.register();
  }

  @AfterEach
  void release() {
    client.finishAndReleaseAll();
    server.finishAndReleaseAll();
  }

  /** Carries what was written to the other side until nothing more is. */
  private void exchange(UnaryOperator<byte[]> toServer, UnaryOperator<byte[]> toClient) {
    boolean moved = true;
    while (moved) {
      server.runPendingTasks();
      client.runPendingTasks();
      boolean forth = move(client, server, toServer);
      boolean back = move(server, client, toClient);
      moved = forth || back;
    }
  }

  private static boolean move(
      EmbeddedChannel from, EmbeddedChannel to, UnaryOperator<byte[]> change) {
    ByteBuf all = Unpooled.buffer();
    for (ByteBuf part = from.readOutbound(); part != null; part = from.readOutbound()) {
      all.writeBytes(part);
      part.release();
    }
    byte[] bytes = ByteBufUtil.getBytes(all);
    all.release();
    if (bytes.length == 0 || !to.isOpen()) {
      return false;
    }
    to.writeInbound(Unpooled.wrappedBuffer(change.apply(bytes)));
    return true;
  }

  private void exchange() {
    exchange(UnaryOperator.identity(), UnaryOperator.identity());
  }

  private HandshakeException clientFailure() throws Exception {
    assertThat(done).isDone();
    assertThat(client.isOpen()).isFalse();
    return (HandshakeException) Threads.failure(done);
  }

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

  private void openWith(TransportSecurity ofServer, TransportSecurity ofClient) throws Exception {
    serverSecurity = ofServer;
    clientSecurity = ofClient;
    open(SECRET);
  }

  @Test
  void sidesThatProtectDifferentlyRefuseEachOtherWithWords() throws Exception {
    openWith(TransportSecurity.aesGcm(), TransportSecurity.plain());
    exchange();
    assertThat(clientFailure())
        .hasMessageContaining("it encrypts with AES-GCM, but this side does not encrypt");
    assertThat(clientFailure().isWorthARetry()).isFalse();
    assertThat(refused)
        .singleElement()
        .asString()
        .contains("it does not encrypt, but this side encrypts with AES-GCM");
    assertThat(accepted).isEmpty();
  }

  @Test
  void nobodyInTheMiddleCanTalkBothSidesOutOfEncryption() throws Exception {
    openWith(TransportSecurity.plain(), TransportSecurity.aesGcm());
    boolean[] first = {true};
    exchange(
        bytes -> {
          if (first[0]) {
            first[0] = false;
            bytes[bytes.length - 1] = Protection.NONE.code();
          }
          return bytes;
        },
        UnaryOperator.identity());
    assertThat(accepted).isEmpty();
    assertThat(done).isCompletedExceptionally();
    assertThat(refused).singleElement().asString().contains("does not have the secret");
  }

  @Test
  void afterTheHandshakeBothDirectionsAreEncryptedUnderKeysOfTheirOwn() throws Exception {
    openWith(TransportSecurity.aesGcm(), TransportSecurity.aesGcm());
    exchange();
    assertThat(done).isCompletedWithValue(client);
    byte[] text = "nobody may see this".getBytes(UTF_8);
    byte[] forth = carried(client, server, text);
    byte[] back = carried(server, client, text);
    assertThat(new String(forth, UTF_8)).doesNotContain("see this");
    assertThat(back).hasSameSizeAs(forth).isNotEqualTo(forth);
  }

  /** What goes over the wire when {@code text} is sent, which must arrive. */
  private static byte[] carried(EmbeddedChannel from, EmbeddedChannel to, byte[] text) {
    from.writeOutbound(Unpooled.wrappedBuffer(text));
    byte[][] seen = new byte[1][];
    move(
        from,
        to,
        bytes -> {
          seen[0] = bytes;
          return bytes;
        });
    ByteBuf arrived = to.readInbound();
    assertThat(ByteBufUtil.getBytes(arrived)).isEqualTo(text);
    arrived.release();
    return seen[0];
  }

  @Test
  void anyByteOfTheHandshakeThatIsChangedKeepsBothSidesFromSettingUpAConnection() throws Exception {
    open(SECRET);
    int hello = 2 + 6 + HandshakeMessages.NONCE_BYTES + 3 * 4 + 2 + ID.group().length() + 1;
    int all = hello + (2 + 7 + HandshakeMessages.NONCE_BYTES) + 2 * (2 + 7 + 32);
    for (int changed = 0; changed < all; changed++) {
      HandshakeTest attempt = new HandshakeTest();
      int[] position = {0};
      int target = changed;
      UnaryOperator<byte[]> change =
          bytes -> {
            int at = target - position[0];
            if (at >= 0 && at < bytes.length) {
              bytes[at] ^= 0x55;
            }
            position[0] += bytes.length;
            return bytes;
          };
      attempt.openWith(TransportSecurity.aesGcm(), TransportSecurity.aesGcm());
      attempt.exchange(change, change);
      assertThat(attempt.done.isDone() && !attempt.done.isCompletedExceptionally())
          .as("the client believes in a handshake whose byte %s was changed", changed)
          .isFalse();
      attempt.release();
    }
  }

  @Test
  void randomBytesNeitherGetInNorBreakAnything() throws Exception {
    open(SECRET);
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      HandshakeTest attempt = new HandshakeTest();
      attempt.open(SECRET);
      byte[] bytes = new byte[random.nextInt(100)];
      random.nextBytes(bytes);
      if (bytes.length > 8 && random.nextBoolean()) {
        // A frame with our magic and version, so that what is behind them is reached.
        byte[] begin = {0, (byte) (bytes.length - 2), 0x53, 0x43, 0x4f, 0x4c, 0, 2};
        System.arraycopy(begin, 0, bytes, 0, begin.length);
      }
      attempt.server.writeInbound(Unpooled.wrappedBuffer(bytes.clone()));
      attempt.server.runPendingTasks();
      attempt.client.writeInbound(Unpooled.wrappedBuffer(bytes));
      attempt.client.runPendingTasks();
      assertThat(attempt.accepted).isEmpty();
      assertThat(attempt.done.isDone() && !attempt.done.isCompletedExceptionally()).isFalse();
      attempt.server.checkException();
      attempt.client.checkException();
      attempt.release();
    }
  }
}
