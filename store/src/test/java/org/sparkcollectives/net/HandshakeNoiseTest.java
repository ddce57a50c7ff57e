package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests changed and random bytes in place of the handshake's messages. */
class HandshakeNoiseTest extends HandshakeWire {

  @Test
  void anyByteOfTheHandshakeThatIsChangedKeepsBothSidesFromSettingUpAConnection() throws Exception {
    open(SECRET);
    int hello = 2 + 6 + HandshakeMessages.NONCE_BYTES + 3 * 4 + 2 + ID.group().length() + 1;
    int all = hello + (2 + 7 + HandshakeMessages.NONCE_BYTES) + 2 * (2 + 7 + 32);
    for (int changed = 0; changed < all; changed++) {
      HandshakeWire attempt = new HandshakeWire();
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
      attempt.open(SECRET);
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
      HandshakeWire attempt = new HandshakeWire();
      attempt.open(SECRET);
      byte[] bytes = new byte[random.nextInt(100)];
      random.nextBytes(bytes);
      if (bytes.length > 8 && random.nextBoolean()) {
        // The frame has our magic and version, so that the bytes behind them are reached.
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
