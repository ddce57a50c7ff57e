package org.sparkcollectives.store.net;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One direction of an encrypted connection, with a test that sits on the wire. */
class RecordsTest {

  private static final long RECORDS_PER_KEY = 4;
  private static final byte[] SECRET = new byte[32];

  private final List<Throwable> failures = new ArrayList<>();
  private final ByteArrayOutputStream received = new ByteArrayOutputStream();
  private final RecordEncoder encoder =
      new RecordEncoder(RecordCipher.encrypting(SECRET, RECORDS_PER_KEY));
  private final EmbeddedChannel sender = new EmbeddedChannel(encoder);
  private final EmbeddedChannel receiver = receiver(SECRET);

  private EmbeddedChannel receiver(byte[] secret) {
    RecordEncoder back =
        new RecordEncoder(RecordCipher.encrypting(new byte[] {1}, RECORDS_PER_KEY));
    return new EmbeddedChannel(
        new FrameDecoder(RecordEncoder.MAX_RECORD_BYTES),
        new RecordDecoder(RecordCipher.decrypting(secret, RECORDS_PER_KEY), back),
        back,
        new ChannelInboundHandlerAdapter() {
          @Override
          public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            received.writeBytes(ByteBufUtil.getBytes(bytes));
            bytes.release();
          }

          @Override
          public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            failures.add(cause);
          }
        });
  }

  @AfterEach
  void release() {
    sender.finishAndReleaseAll();
    receiver.finishAndReleaseAll();
  }

  /** What sending {@code bytes} puts on the wire. */
  private byte[] sent(byte... bytes) {
    sender.writeOutbound(Unpooled.wrappedBuffer(bytes));
    return onTheWire();
  }

  private byte[] onTheWire() {
    ByteArrayOutputStream wire = new ByteArrayOutputStream();
    for (ByteBuf part = sender.readOutbound(); part != null; part = sender.readOutbound()) {
      wire.writeBytes(ByteBufUtil.getBytes(part));
      part.release();
    }
    return wire.toByteArray();
  }

  private void arrives(byte[] bytes) {
    receiver.writeInbound(Unpooled.wrappedBuffer(bytes));
  }

  private IOException failure() {
    assertThat(failures).hasSize(1);
    assertThat(receiver.isOpen()).isFalse();
    return (IOException) failures.get(0);
  }

  @Test
  void whatIsSentArrivesAndIsNotSeenOnTheWire() {
    byte[] text = "the weights of the model".getBytes(UTF_8);
    byte[] wire = sent(text);
    assertThat(wire).hasSize(4 + 1 + text.length + 16);
    assertThat(new String(wire, ISO_8859_1)).doesNotContain("weights");
    arrives(wire);
    assertThat(received.toByteArray()).isEqualTo(text);
    assertThat(failures).isEmpty();
  }

  @Test
  void anySizesInAnyPiecesArriveAsTheyWereSentOverManyKeys() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < 40; i++) {
      int bound = random.nextBoolean() ? 100 : 3 * RecordEncoder.MAX_PLAIN_BYTES;
      byte[] bytes = new byte[random.nextInt(bound)];
      random.nextBytes(bytes);
      all.writeBytes(bytes);
      byte[] wire = sent(bytes);
      for (int at = 0; at < wire.length; ) {
        int end = Math.min(wire.length, at + 1 + random.nextInt(200_000));
        arrives(Arrays.copyOfRange(wire, at, end));
        at = end;
      }
    }
    assertThat(received.toByteArray()).isEqualTo(all.toByteArray());
    assertThat(failures).isEmpty();
  }

  @Test
  void equalContentsNeverLookEqual() {
    assertThat(sent((byte) 1, (byte) 2)).isNotEqualTo(sent((byte) 1, (byte) 2));
  }

  @Test
  void anyBitThatIsChangedClosesTheConnectionAndNothingIsPassedOn() {
    byte[] wire = sent((byte) 1, (byte) 2, (byte) 3);
    for (int bit = 4 * 8; bit < wire.length * 8; bit++) {
      byte[] changed = wire.clone();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      failures.clear();
      EmbeddedChannel fresh = receiver(SECRET);
      fresh.writeInbound(Unpooled.wrappedBuffer(changed));
      assertThat(failures).as("bit %s", bit).hasSize(1);
      assertThat(failures.get(0)).isInstanceOf(IOException.class);
      assertThat(fresh.isOpen()).isFalse();
    }
    assertThat(received.size()).isZero();
  }

  @Test
  void theErrorOfAChangedRecordSaysWhatHappened() {
    arrives(sent((byte) 1));
    byte[] wire = sent((byte) 2);
    wire[6] ^= 1;
    arrives(wire);
    assertThat(failure()).hasMessageContaining("record 1 was changed on the way");
    assertThat(received.toByteArray()).containsExactly(1);
  }

  @Test
  void aRecordThatIsRepeatedIsRefused() {
    byte[] wire = sent((byte) 1);
    arrives(wire);
    arrives(wire);
    assertThat(failure()).hasMessageContaining("not the next that the other side has sent");
    assertThat(received.toByteArray()).containsExactly(1);
  }

  @Test
  void whatComesBehindARecordThatIsRefusedIsNoFurtherFailure() {
    byte[] wire = sent((byte) 1);
    byte[] noLength = {-1, -1, -1, -1};
    receiver.writeInbound(Unpooled.wrappedBuffer(wire, wire, wire, noLength));
    assertThat(failure()).hasMessageContaining("not the next that the other side has sent");
    assertThat(received.toByteArray()).containsExactly(1);
  }

  @Test
  void aRecordThatIsLeftOutIsNoticed() {
    assertThat(sent((byte) 1)).isNotEmpty();
    arrives(sent((byte) 2));
    assertThat(failure()).hasMessageContaining("not the next");
    assertThat(received.size()).isZero();
  }

  @Test
  void theKeyOfAnotherDirectionDoesNotFit() {
    EmbeddedChannel other = receiver(new byte[] {2});
    other.writeInbound(Unpooled.wrappedBuffer(sent((byte) 1)));
    assertThat(failures).singleElement().isInstanceOf(IOException.class);
    assertThat(received.size()).isZero();
  }

  @Test
  void anAnnouncedEndIsNoFailure() {
    arrives(sent((byte) 1));
    sender.close();
    arrives(onTheWire());
    receiver.close();
    assertThat(failures).isEmpty();
    assertThat(received.toByteArray()).containsExactly(1);
  }

  @Test
  void aConnectionThatIsCutWithoutItsEndIsAFailure() {
    arrives(sent((byte) 1));
    receiver.pipeline().firstContext().close(); // As the network does, past this side's own end.
    assertThat(failure()).hasMessageContaining("without the end");
  }

  @Test
  void anEndThatIsMadeUpIsRefused() {
    byte[] end = new byte[4 + 1 + 16];
    end[3] = 17;
    end[4] = RecordEncoder.END;
    arrives(end);
    assertThat(failure()).hasMessageContaining("record 0");
  }

  @Test
  void nothingComesAfterTheEnd() {
    sender.close();
    arrives(onTheWire());
    byte[] more = new byte[4 + 1 + 16];
    more[3] = 17;
    arrives(more);
    assertThat(failure()).hasMessageContaining("after the announced end");
  }

  @Test
  void aLengthOutOfBoundsIsRefusedBeforeMemoryIsTaken() {
    arrives(new byte[] {0x7f, 0, 0, 0});
    assertThat(failures).singleElement().asString().contains("the most is");
    assertThat(receiver.isOpen()).isFalse();
  }

  @Test
  void aRecordWithoutRoomForATagIsRefused() {
    arrives(new byte[] {0, 0, 0, 3, 1, 2, 3});
    assertThat(failure()).hasMessageContaining("too short");
  }

  @Test
  void afterTheEndNothingIsSent() {
    sender.close();
    ChannelFuture late = sender.writeOneOutbound(Unpooled.wrappedBuffer(new byte[1]));
    assertThat(late.cause()).isInstanceOf(ClosedChannelException.class);
  }
}
