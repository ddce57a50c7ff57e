package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.net.HandshakeWire.frame;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.FuzzedStream;
import org.sparkcollectives.testing.Threads;

/** Tests that a server without the secret can make a client believe nothing. */
class ClientHandshakeFuzzTest {

  static Stream<byte[]> seeds() {
    byte[] challenge = frame(HandshakeMessages.ok(new byte[HandshakeMessages.NONCE_BYTES]));
    byte[] welcome = frame(HandshakeMessages.ok(new byte[HandshakeMessages.PROOF_BYTES]));
    byte[] shortened = frame(HandshakeMessages.ok(new byte[1]));
    byte[] wordless = frame(HandshakeMessages.refusal(HandshakeMessages.OTHER_PROTECTION));
    byte[] wrongSecret = frame(HandshakeMessages.refusal(HandshakeMessages.WRONG_SECRET));
    return Stream.of(
        FuzzedStream.seed(0, challenge, welcome),
        FuzzedStream.seed(1, challenge, welcome),
        FuzzedStream.seed(0, challenge, shortened),
        FuzzedStream.seed(0, shortened),
        FuzzedStream.seed(0, wordless),
        FuzzedStream.seed(4, frame(HandshakeMessages.otherProtection(Protection.TLS))),
        FuzzedStream.seed(0, frame(HandshakeMessages.refusal(HandshakeMessages.OTHER_VERSION))),
        FuzzedStream.seed(0, frame(HandshakeMessages.refusal(HandshakeMessages.UNKNOWN_GROUP))),
        FuzzedStream.seed(0, challenge, wrongSecret));
  }

  @MethodSource("seeds")
  @FuzzTest
  void aServerWithoutTheSecretIsNeverBelievedWhateverItSays(byte[] input) throws Exception {
    HandshakeWire wire = new HandshakeWire();
    wire.openWith(TransportSecurity.plain(), TransportSecurity.plain());
    for (byte[] piece : new FuzzedStream(input).pieces()) {
      if (wire.client.isOpen()) {
        wire.client.writeInbound(Unpooled.wrappedBuffer(piece));
        wire.client.runPendingTasks();
      }
    }
    wire.client.checkException();
    assertThat(wire.client.isOpen()).isEqualTo(!wire.done.isDone());
    wire.client.close();
    assertThat(Threads.failure(wire.done)).isInstanceOf(IOException.class);
    wire.release();
  }
}
