package org.sparkcollectives.store.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.FuzzedStream;
import org.sparkcollectives.testing.ReceivedBytes;

/**
 * What somebody on the wire can make of an encrypted connection. Under one key there is one stream
 * that the other side has sent, which the seeds are; whatever is made of it, the receiver gets a
 * beginning of what was sent, and knows if that is not all.
 */
class RecordDecoderFuzzTest {

  /** Few, so that a stream goes over several keys. */
  private static final long RECORDS_PER_KEY = 2;

  private static final byte[] SECRET = new byte[32];
  private static final byte[][] SENT = {
    "first".getBytes(US_ASCII), new byte[200], {7}, "the last of them".getBytes(US_ASCII)
  };
  private static final byte[] ALL_SENT = ByteBufUtil.getBytes(Unpooled.wrappedBuffer(SENT));

  /** The stream: the records of {@link #SENT}, and the announced end. */
  private static byte[] wire() {
    EmbeddedChannel sender =
        new EmbeddedChannel(new RecordEncoder(RecordCipher.encrypting(SECRET, RECORDS_PER_KEY)));
    for (byte[] each : SENT) {
      sender.writeOutbound(Unpooled.wrappedBuffer(each));
    }
    sender.close();
    ByteArrayOutputStream wire = new ByteArrayOutputStream();
    for (ByteBuf part = sender.readOutbound(); part != null; part = sender.readOutbound()) {
      wire.writeBytes(ByteBufUtil.getBytes(part));
      part.release();
    }
    return wire.toByteArray();
  }

  static Stream<byte[]> seeds() {
    byte[] wire = wire();
    byte[] changed = wire.clone();
    changed[30] ^= 1;
    byte[] first = Arrays.copyOf(wire, 4 + 1 + SENT[0].length + 16);
    byte[] rest = Arrays.copyOfRange(wire, first.length, wire.length);
    return Stream.of(
        FuzzedStream.seed(0, wire),
        FuzzedStream.seed(1, wire),
        FuzzedStream.seed(100, wire, first),
        FuzzedStream.seed(0, changed),
        FuzzedStream.seed(0, first, first, rest),
        FuzzedStream.seed(0, rest),
        FuzzedStream.seed(0, Arrays.copyOf(wire, wire.length - 1)),
        FuzzedStream.seed(0, new byte[] {0, 0, 0, 17, 2}, new byte[16]),
        FuzzedStream.seed(0, new byte[] {0, 0, 0, 1, 1}),
        FuzzedStream.seed(0, new byte[] {0, 0, 0, 0}));
  }

  @MethodSource("seeds")
  @FuzzTest
  void whateverIsMadeOfAStreamItsReceiverGetsABeginningAndKnowsIfThatIsNotAll(byte[] input) {
    RecordEncoder back = new RecordEncoder(RecordCipher.encrypting(new byte[] {1}, 1));
    ReceivedBytes received = new ReceivedBytes();
    EmbeddedChannel receiver =
        new EmbeddedChannel(
            new FrameDecoder(RecordEncoder.MAX_RECORD_BYTES),
            new RecordDecoder(RecordCipher.decrypting(SECRET, RECORDS_PER_KEY), back),
            back,
            received);
    for (byte[] piece : new FuzzedStream(input).pieces()) {
      if (receiver.isOpen()) {
        receiver.writeInbound(Unpooled.wrappedBuffer(piece));
      }
    }
    if (receiver.isOpen()) {
      // As the network does, past this side's own end.
      receiver.pipeline().firstContext().close();
    }
    byte[] got = received.joined();
    assertThat(got).isEqualTo(Arrays.copyOf(ALL_SENT, got.length));
    assertThat(received.failures().size()).isLessThanOrEqualTo(1);
    if (received.failures().isEmpty()) {
      assertThat(got).isEqualTo(ALL_SENT);
    }
    receiver.finishAndReleaseAll();
  }
}
