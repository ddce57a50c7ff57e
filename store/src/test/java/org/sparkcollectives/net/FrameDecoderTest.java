package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.ReceivedBytes;

class FrameDecoderTest {

  private static final int MAX = 1 << 20;

  @RepeatedTest(20)
  void framesComeOutWholeHoweverTheBytesAreCut(RepetitionInfo repetition) {
    long seed = repetition.getCurrentRepetition();
    Random random = new Random(seed);
    byte[][] frames = new byte[30][];
    ByteBuf stream = Unpooled.buffer();
    for (int i = 0; i < frames.length; i++) {
      frames[i] = new byte[random.nextInt(4) == 0 ? random.nextInt(300_000) : random.nextInt(20)];
      random.nextBytes(frames[i]);
      stream.writeInt(frames[i].length).writeBytes(frames[i]);
    }
    EmbeddedChannel channel = new EmbeddedChannel(new FrameDecoder(MAX));
    while (stream.isReadable()) {
      int most = random.nextBoolean() ? 7 : 100_000;
      channel.writeInbound(
          stream.readRetainedSlice(Math.min(stream.readableBytes(), 1 + random.nextInt(most))));
    }
    for (int i = 0; i < frames.length; i++) {
      ByteBuf frame = channel.readInbound();
      assertThat(ByteBufUtil.getBytes(frame)).as("seed %d, frame %d", seed, i).isEqualTo(frames[i]);
      frame.release();
    }
    assertThat(channel.finishAndReleaseAll()).isFalse();
    assertThat(stream.refCnt()).isEqualTo(1);
    stream.release();
  }

  @Test
  void aLengthOutOfBoundsClosesTheConnection() {
    for (int length : new int[] {MAX + 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
      EmbeddedChannel channel = new EmbeddedChannel(new FrameDecoder(MAX));
      ByteBuf in = Unpooled.buffer().writeInt(length).writeInt(0);
      assertThatThrownBy(() -> channel.writeInbound(in))
          .isInstanceOf(TooLongFrameException.class)
          .hasMessageContaining(Integer.toUnsignedString(length))
          .hasMessageContaining(String.valueOf(MAX));
      assertThat(channel.isOpen()).isFalse();
      assertThat(in.refCnt()).isZero();
    }
  }

  @Test
  void afterALengthOutOfBoundsNothingIsTakenWhileTheConnectionIsStillClosing() {
    for (int length : new int[] {MAX + 1, -1}) {
      UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
      ReceivedBytes received = new ReceivedBytes();
      // TLS and the encryption of records do the same: they send a closing message first.
      ChannelOutboundHandlerAdapter closesLater =
          new ChannelOutboundHandlerAdapter() {
            @Override
            public void close(ChannelHandlerContext context, ChannelPromise promise) {}
          };
      EmbeddedChannel channel = new EmbeddedChannel(closesLater, new FrameDecoder(MAX), received);
      channel.config().setAllocator(allocator);
      channel.writeInbound(Unpooled.buffer().writeInt(length).writeInt(0));
      channel.writeInbound(Unpooled.wrappedBuffer(new byte[100_000]));
      assertThat(received.failures()).hasSize(1);
      assertThat(received.messages()).isEmpty();
      assertThat(allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory())
          .isZero();
    }
  }

  @Test
  void anAnnouncedLengthCostsNothingUntilTheBytesCome() {
    UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
    EmbeddedChannel channel = new EmbeddedChannel(new FrameDecoder(Integer.MAX_VALUE));
    channel.config().setAllocator(allocator);
    channel.writeInbound(Unpooled.buffer().writeInt(1 << 30).writeByte(1));
    assertThat(allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory())
        .isLessThanOrEqualTo(64 << 10);
    assertThat(channel.finishAndReleaseAll()).isFalse();
    assertThat(allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory())
        .isZero();
  }

  @Test
  void bytesAfterItsRemovalPassThrough() {
    EmbeddedChannel channel =
        new EmbeddedChannel(
            new FrameDecoder(MAX),
            new ChannelInboundHandlerAdapter() {
              private boolean switched;

              @Override
              public void channelRead(ChannelHandlerContext context, Object message) {
                if (!switched) {
                  switched = true;
                  context.pipeline().remove(FrameDecoder.class);
                }
                context.fireChannelRead(message);
              }
            });
    channel.writeInbound(Unpooled.buffer().writeInt(1).writeByte(5).writeInt(0x01020304));
    ByteBuf frame = channel.readInbound();
    ByteBuf raw = channel.readInbound();
    assertThat(frame.readByte()).isEqualTo((byte) 5);
    assertThat(raw.readInt()).isEqualTo(0x01020304);
    frame.release();
    raw.release();
    channel.finishAndReleaseAll();
  }
}
