package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Warnings;

/** Tests what a server does when a client does not read, or a reply cannot be written. */
class TcpStoreConnectionTest {

  private static final int LARGE = 3 * MessageChunks.CHUNK_BYTES;

  private final StoreTable table = new StoreTable();
  private final StoreSession session = new StoreSession(table, "");
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private int heard;
  private Throwable failure;

  /** Fails what is written, if it is told to. */
  private final class Writes extends ChannelOutboundHandlerAdapter {
    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      if (failure == null) {
        context.write(message, promise);
      } else {
        ReferenceCountUtil.release(message);
        promise.setFailure(failure);
      }
    }
  }

  TcpStoreConnectionTest() {
    channel.pipeline().addLast(new Writes());
    StoreFrames.addTo(channel.pipeline());
    channel.pipeline().addLast(new TcpStoreConnection(session, () -> heard++));
    table.set(
        List.of("large", "small"),
        List.of(StoredValue.of(new byte[LARGE]), StoredValue.of(new byte[] {7})));
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
    table.close();
  }

  private static ByteBuf get(long id, String key) {
    byte[] request =
        StoreCodec.encode(
            id,
            StoreRequest.of(StoreOperation.GET, List.of(key), List.of(), 0, Duration.ofMinutes(1)));
    return Unpooled.wrappedBuffer(
        Unpooled.copyInt(request.length), Unpooled.wrappedBuffer(request));
  }

  private void setWritable(boolean writable) {
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, writable);
    channel.runPendingTasks();
  }

  /** Returns the bytes that were sent since the last call. */
  private ByteBuffer sent() {
    ByteBuf all = Unpooled.buffer();
    for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
      all.writeBytes(part);
      part.release();
    }
    ByteBuffer bytes = ByteBuffer.allocate(all.readableBytes());
    all.readBytes(bytes);
    all.release();
    return bytes.flip();
  }

  private static void assertReply(ByteBuffer sent, long id, int valueBytes) {
    int length = sent.getInt();
    ByteBuffer frame = sent.slice(sent.position(), length);
    assertThat(StoreCodec.id(frame)).isEqualTo(id);
    assertThat(StoreCodec.decodeReply(frame).values().get(0).size()).isEqualTo(valueBytes);
    sent.position(sent.position() + length);
  }

  @Test
  void aReplyIsSentInChunksAndWhole() {
    channel.writeInbound(get(1, "large"), get(2, "small"));
    ByteBuffer sent = sent();
    assertReply(sent, 1, LARGE);
    assertReply(sent, 2, 1);
    assertThat(sent.hasRemaining()).isFalse();
    assertThat(heard).isEqualTo(2);
  }

  @Test
  void requestsWaitWhileTheClientDoesNotRead() {
    setWritable(false);
    channel.writeInbound(Unpooled.wrappedBuffer(get(1, "large"), get(2, "later"), get(3, "small")));
    assertThat(table.waiterCount()).isZero();
    assertThat(channel.config().isAutoRead()).isFalse();
    assertThat(sent().hasRemaining()).isFalse();
    setWritable(true);
    ByteBuffer sent = sent();
    assertReply(sent, 1, LARGE);
    assertReply(sent, 3, 1);
    assertThat(table.waiterCount()).isEqualTo(1);
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void requestsThatWaitGoWithTheConnection() {
    setWritable(false);
    ByteBuf requests = Unpooled.wrappedBuffer(get(1, "large"), get(2, "small"));
    channel.writeInbound(requests);
    channel.close();
    assertThat(requests.refCnt()).isZero();
  }

  @Test
  void aReplyThatCannotBeWrittenEndsTheConnection() {
    channel.writeInbound(get(1, "never"));
    assertThat(table.waiterCount()).isEqualTo(1);
    failure = new OutOfMemoryError("no direct memory");
    try (Warnings log = new Warnings(TcpStoreConnection.class)) {
      channel.writeInbound(get(2, "small"));
      assertThat(log.lines()).singleElement().asString().contains("as it cannot be served");
    }
    assertThat(channel.isOpen()).isFalse();
    assertThat(table.waiterCount()).isZero();
  }
}
