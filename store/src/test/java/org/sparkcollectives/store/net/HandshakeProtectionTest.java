package org.sparkcollectives.store.net;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** That both sides agree on how the connection is protected, and are. */
class HandshakeProtectionTest extends HandshakeWire {

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
}
