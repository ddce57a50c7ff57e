package org.sparkcollectives.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.transport.ConnectionListener;
import org.sparkcollectives.transport.shm.SharedFile;
import org.sparkcollectives.transport.shm.SharedRing;

/**
 * How a sender offers its peer to move messages through memory that both share, over a connection
 * of its own, which stays open as the sign that both are alive.
 *
 * <pre>
 *   sender to receiver                          receiver to sender
 *   nonce, 16 bytes | process i32 | descriptor i32   --&gt;
 *                                         &lt;--   1 taken, or 2 refused and the connection ends
 *   the end of the connection, see {@link MessageHeader}
 * </pre>
 */
final class RingOffer extends SimpleChannelInboundHandler<ByteBuf> {

  /** The lane of such connections. */
  static final int LANE = 2;

  private static final byte TAKEN = 1;
  private static final byte REFUSED = 2;
  private static final int OFFER_BYTES = SharedFile.NONCE_BYTES + 2 * Integer.BYTES;
  private static final Logger LOG = LoggerFactory.getLogger(RingOffer.class);

  private final SharedFile file;
  private final ReturnPath returnPath;
  private final CompletableFuture<Boolean> answer = new CompletableFuture<>();

  private RingOffer(SharedFile file, ReturnPath returnPath) {
    this.file = file;
    this.returnPath = returnPath;
  }

  /** Memory for an offer; null if there is none here. */
  static SharedFile prepare(Path folder) {
    try {
      return SharedFile.create(folder, SharedRing.bytes(ByteSink.SEGMENT_BYTES));
    } catch (IOException | UnsupportedOperationException e) {
      LOG.info("No shared memory in {}: messages to other processes go over TCP: {}", folder, e);
      return null;
    }
  }

  /** Speaks for the sender on a connection that has been made. On its event loop. */
  static RingOffer make(Channel channel, SharedFile file, ReturnPath returnPath) {
    RingOffer offer = new RingOffer(file, returnPath);
    channel.pipeline().addLast(offer);
    channel.writeAndFlush(
        channel
            .alloc()
            .buffer(OFFER_BYTES)
            .writeBytes(file.nonce())
            .writeInt(file.key().process())
            .writeInt(file.key().descriptor()));
    return offer;
  }

  /** Whether the receiver has taken the memory; fails if the connection was lost. */
  CompletableFuture<Boolean> answer() {
    return answer;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
    boolean taken = bytes.readByte() == TAKEN;
    file.keep();
    if (taken) {
      context.pipeline().addLast(returnPath);
      if (bytes.isReadable()) {
        context.fireChannelRead(bytes.retain());
      }
    }
    context.pipeline().remove(this);
    answer.complete(taken);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    answer.completeExceptionally(new TransportException("the connection was lost"));
    context.fireChannelInactive();
  }

  /** Takes the offer of a sender, or refuses it. On the connection's event loop. */
  static final class Taker extends SimpleChannelInboundHandler<ByteBuf> {

    /** Who gets the ring. */
    interface Receiver {
      void taken(SharedRing ring);
    }

    private final Receiver receiver;
    private final ConnectionListener listener;
    private final ByteBuf received = Unpooled.buffer(OFFER_BYTES, OFFER_BYTES);

    Taker(Receiver receiver, ConnectionListener listener) {
      this.receiver = receiver;
      this.listener = listener;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
      received.writeBytes(bytes, Math.min(received.writableBytes(), bytes.readableBytes()));
      if (!received.isWritable()) {
        answer(context);
        if (bytes.isReadable()) {
          context.fireChannelRead(bytes.retain());
        }
        context.pipeline().remove(this);
      }
    }

    private void answer(ChannelHandlerContext context) {
      byte[] nonce = new byte[SharedFile.NONCE_BYTES];
      received.readBytes(nonce);
      SharedFile.Key key = new SharedFile.Key(received.readInt(), received.readInt());
      Channel channel = context.channel();
      try {
        SharedFile file = SharedFile.open(key, nonce, SharedRing.bytes(ByteSink.SEGMENT_BYTES));
        file.keep();
        // From here on nothing comes over the connection but its end.
        channel.pipeline().addLast(new NettySource(channel, listener));
        receiver.taken(new SharedRing(file, ByteSink.SEGMENT_BYTES));
        channel.writeAndFlush(channel.alloc().buffer(1).writeByte(TAKEN));
      } catch (IOException | RuntimeException e) {
        LOG.info("The memory of {} is not here: messages come over TCP: {}", key, e.toString());
        channel
            .writeAndFlush(channel.alloc().buffer(1).writeByte(REFUSED))
            .addListener(ChannelFutureListener.CLOSE);
      }
    }
  }
}
