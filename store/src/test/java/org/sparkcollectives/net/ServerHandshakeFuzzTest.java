package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.FuzzedStream;
import org.sparkcollectives.testing.TestTls;

/**
 * Tests that someone without the secret can do nothing to a server: the server refuses it, or
 * ignores it until the time is over.
 *
 * <p>The first byte of an input chooses how the server protects connections.
 */
class ServerHandshakeFuzzTest {

  /** A challenge and a refusal, each of the greatest length. */
  private static final int MOST_SAID = 2 * (2 + 7 + HandshakeMessages.NONCE_BYTES);

  /** A TLS server sends its certificate before it can know who asks. */
  private static final int MOST_SAID_IN_TLS = 8 << 10;

  private static final int MOST_TOLD = 500;

  private static TransportSecurity[] protections;

  @BeforeAll
  static void makeKeys() throws Exception {
    protections =
        new TransportSecurity[] {
          TransportSecurity.plain(), TransportSecurity.ephemeralTls(), TestTls.create()
        };
  }

  static Stream<byte[]> seeds() {
    byte[] nonce = new byte[HandshakeMessages.NONCE_BYTES];
    byte[] plain = HandshakeWire.frame(hello(nonce, HandshakeWire.ID, Protection.NONE));
    byte[] other = HandshakeWire.frame(hello(nonce, HandshakeWire.ID, Protection.TLS));
    byte[] wrongProof =
        HandshakeWire.frame(HandshakeMessages.ok(new byte[HandshakeMessages.PROOF_BYTES]));
    byte[] otherVersion = plain.clone();
    otherVersion[7] = 9;
    ConnectionId forger = new ConnectionId("a\nWARN all is well", -1, -1, -1);
    byte[] forged = HandshakeWire.frame(hello(nonce, forger, Protection.NONE));
    byte[] tls = {22, 3, 1, 0, 5, 1, 0, 0, 1, 3};
    return Stream.of(
        on(0, 0, plain, wrongProof),
        on(0, 1, plain, wrongProof),
        on(0, 9, other, wrongProof),
        on(0, 0, plain, plain),
        on(1, 0, plain),
        on(1, 0, tls),
        on(0, 0, otherVersion),
        on(0, 0, forged, wrongProof),
        on(2, 0, tls),
        on(0, 0, tls),
        on(2, 0, plain));
  }

  private static ByteBuf hello(byte[] nonce, ConnectionId id, Protection protection) {
    return HandshakeMessages.hello(nonce, id, protection);
  }

  private static byte[] on(int protection, int pieceBytes, byte[]... parts) {
    byte[] stream = FuzzedStream.seed(pieceBytes, parts);
    byte[] input = new byte[1 + stream.length];
    input[0] = (byte) protection;
    System.arraycopy(stream, 0, input, 1, stream.length);
    return input;
  }

  @MethodSource("seeds")
  @FuzzTest
  void whoHasNoSecretGetsNoConnectionAndBreaksNothingWhateverItSays(byte[] input) throws Exception {
    if (input.length == 0) {
      return;
    }
    TransportSecurity security = protections[Math.floorMod(input[0], protections.length)];
    HandshakeWire wire = new HandshakeWire();
    wire.openWith(security, TransportSecurity.plain());
    FuzzedStream stream = new FuzzedStream(Arrays.copyOfRange(input, 1, input.length));
    for (byte[] piece : stream.pieces()) {
      if (wire.server.isOpen()) {
        wire.server.writeInbound(Unpooled.wrappedBuffer(piece));
        wire.server.runPendingTasks();
      }
    }
    wire.server.checkException();
    assertThat(wire.accepted).isEmpty();
    assertThat(wire.refused.size()).isLessThanOrEqualTo(1);
    assertThat(wire.server.isOpen()).isEqualTo(wire.refused.isEmpty());
    for (String why : wire.refused) {
      assertThat(why).hasSizeLessThan(MOST_TOLD).doesNotMatch("(?s).*\\p{Cntrl}.*");
    }
    boolean tls = security.protection() == Protection.TLS;
    assertThat(said(wire)).isLessThanOrEqualTo(tls ? MOST_SAID_IN_TLS : MOST_SAID);
    wire.release();
  }

  private static int said(HandshakeWire wire) {
    int bytes = 0;
    for (ByteBuf part = wire.server.readOutbound();
        part != null;
        part = wire.server.readOutbound()) {
      bytes += part.readableBytes();
      part.release();
    }
    return bytes;
  }
}
