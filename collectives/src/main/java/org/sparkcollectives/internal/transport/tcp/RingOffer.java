package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.shm.SharedFolder;
import org.sparkcollectives.internal.transport.shm.SharedRing;

/**
 * The offer of a sender to its peer to move messages through memory that both share. It is made
 * over a connection of its own, which stays open as the sign that both are alive.
 *
 * <pre>
 *   sender to receiver                          receiver to sender
 *   {@link SharedRing#address}                  --&gt;
 *                                         &lt;--   1 taken, or 2 refused and the connection ends
 *   the end of the connection, see {@link MessageHeader}
 * </pre>
 */
final class RingOffer extends SimpleChannelInboundHandler<ByteBuf> {

  private static final byte TAKEN = 1;
  private static final byte REFUSED = 2;
  private static final Logger LOG = LoggerFactory.getLogger(RingOffer.class);

  private final SharedRing ring;
  private final ReturnPath returnPath;
  private final CompletableFuture<Boolean> answer = new CompletableFuture<>();

  private RingOffer(SharedRing ring, ReturnPath returnPath) {
    this.ring = ring;
    this.returnPath = returnPath;
  }

  /**
   * Returns memory for an offer; null if there is none here.
   *
   * @param hasLogged whether the log says so already
   */
  static SharedRing prepare(SharedFolder folder, AtomicBoolean hasLogged) {
    try {
      return SharedRing.create(folder.path());
    } catch (IOException | UnsupportedOperationException e) {
      if (!hasLogged.getAndSet(true)) {
        folder
            .logging()
            .accept(
                () ->
                    LOG.info(
                        "No shared memory in {}: messages go over TCP: {}",
                        folder.path(),
                        e.toString()));
      }
      return null;
    }
  }

  /** Speaks for the sender on a connection that has been made. On its event loop. */
  static RingOffer make(Channel channel, SharedRing ring, ReturnPath returnPath) {
    RingOffer offer = new RingOffer(ring, returnPath);
    channel.pipeline().addLast(offer);
    channel.writeAndFlush(Unpooled.wrappedBuffer(ring.address()));
    return offer;
  }

  /** Returns whether the receiver has taken the memory; fails if the connection was lost. */
  CompletableFuture<Boolean> answer() {
    return answer;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
    boolean taken = bytes.readByte() == TAKEN;
    ring.keep();
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

  /** Accepts the offer of a sender, or refuses it. On the connection's event loop. */
  static final class Taker extends SimpleChannelInboundHandler<ByteBuf> {

    private final Consumer<SharedRing> receiver;
    private final ConnectionListener listener;
    private final Consumer<Runnable> logging;
    private final ByteBuf received =
        Unpooled.buffer(SharedRing.ADDRESS_BYTES, SharedRing.ADDRESS_BYTES);

    /**
     * Creates what answers one offer.
     *
     * @param receiver is handed the ring
     * @param listener hears of the connection's end
     * @param logging runs what writes to the log, so that its lines name the rank
     */
    Taker(Consumer<SharedRing> receiver, ConnectionListener listener, Consumer<Runnable> logging) {
      this.receiver = receiver;
      this.listener = listener;
      this.logging = logging;
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
      Channel channel = context.channel();
      try {
        SharedRing ring = SharedRing.open(ByteBufUtil.getBytes(received));
        channel.pipeline().addLast(new ConnectionEnd(listener));
        receiver.accept(ring);
        channel.writeAndFlush(channel.alloc().buffer(1).writeByte(TAKEN));
      } catch (IOException | RuntimeException e) {
        logging.accept(
            () -> LOG.info("Offered memory is not here: messages come over TCP: {}", e.toString()));
        channel
            .writeAndFlush(channel.alloc().buffer(1).writeByte(REFUSED))
            .addListener(ChannelFutureListener.CLOSE);
      }
    }
  }
}
