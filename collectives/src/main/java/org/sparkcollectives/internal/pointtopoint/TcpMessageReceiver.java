package org.sparkcollectives.internal.pointtopoint;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.ConnectionListener;

/** The receiving side of one connection of messages. Lives on the connection's event loop. */
public final class TcpMessageReceiver extends SimpleChannelInboundHandler<ByteBuf> {

  private final int source;
  private final MessageMatcher matcher;
  private final ConnectionListener listener;
  private final Map<Long, PostedReceive> underWay = new HashMap<>();
  private long lastOffered = -1;
  private ChannelHandlerContext context;
  private volatile boolean ended;

  /** The reason why the connection ended; null until it has. */
  private Throwable end;

  private TcpMessageReceiver(int source, MessageMatcher matcher, ConnectionListener listener) {
    this.source = source;
    this.matcher = matcher;
    this.listener = listener;
  }

  /** Makes a channel receive the messages of a rank that has connected. */
  public static TcpMessageReceiver addTo(
      ChannelPipeline pipeline, int source, MessageMatcher matcher, ConnectionListener listener) {
    MessageFrames.addTo(pipeline);
    TcpMessageReceiver receiver = new TcpMessageReceiver(source, matcher, listener);
    pipeline.addLast(receiver);
    return receiver;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext unused, ByteBuf frame) {
    byte kind = frame.readByte();
    switch (kind) {
      case MessageFrames.OFFER -> offer(frame);
      case MessageFrames.DATA -> data(frame);
      case MessageFrames.END -> {
        ended = true;
        listener.finished(frame.readLong());
      }
      default -> throw new IllegalStateException("a frame of kind " + kind);
    }
  }

  private void offer(ByteBuf frame) {
    long id = frame.readLong();
    if (id <= lastOffered) {
      // Data with this id could belong to either, so one of the receives would never end.
      throw new IllegalStateException(
          "rank " + source + " offers message " + id + " after message " + lastOffered);
    }
    lastOffered = id;
    int tag = frame.readInt();
    DType dtype = MessageFrames.dtype(frame.readByte());
    MessageFrames.requireByteOrder(frame.readByte());
    matcher.offer(new TcpMessage(id, tag, dtype, frame.readLong()));
  }

  private void data(ByteBuf frame) {
    long id = frame.readLong();
    PostedReceive receive = underWay.get(id);
    if (receive == null) {
      return;
    }
    int width = receive.elementBytes();
    // Some TLS engines decrypt to the heap, and tensors are written from direct memory.
    ByteBuf direct =
        frame.isDirect()
            ? frame.retain()
            : context.alloc().directBuffer(frame.readableBytes()).writeBytes(frame);
    try {
      ByteBuffer elements = direct.nioBuffer().order(ByteOrder.nativeOrder());
      boolean wanted = receive.write(elements.remaining() / width, elements);
      if (!wanted || receive.finish()) {
        underWay.remove(id);
      }
    } finally {
      direct.release();
    }
  }

  /** Closes the connection in good order; may be called on any thread. */
  public void close(long lastCollective) {
    context
        .executor()
        .execute(
            () -> {
              ended = true;
              context
                  .writeAndFlush(MessageFrames.end(context.alloc(), lastCollective))
                  .addListener(ChannelFutureListener.CLOSE);
            });
  }

  /** Closes the connection at once; may be called on any thread. */
  public void breakOff() {
    ended = true;
    context.close();
  }

  /** Returns whether the connection is closed. */
  public boolean isClosed() {
    return !context.channel().isOpen();
  }

  @Override
  public void channelInactive(ChannelHandlerContext unused) {
    gone(new IOException("the connection was lost"));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext unused, Throwable cause) {
    gone(cause);
    context.close();
  }

  private void gone(Throwable how) {
    matcher.forget(source);
    if (end != null) {
      return;
    }
    end = how;
    if (ended && underWay.isEmpty()) {
      return;
    }
    ended = true;
    underWay.values().forEach(each -> each.fail(lost()));
    underWay.clear();
    listener.broken(how);
  }

  private TransportException lost() {
    return new TransportException(
        "the connection from rank " + source + " ended: " + end, source, end);
  }

  private final class TcpMessage implements OfferedMessage {
    private final long id;
    private final int tag;
    private final DType dtype;
    private final long count;

    TcpMessage(long id, int tag, DType dtype, long count) {
      this.id = id;
      this.tag = tag;
      this.dtype = dtype;
      this.count = count;
    }

    @Override
    public int source() {
      return source;
    }

    @Override
    public int tag() {
      return tag;
    }

    @Override
    public DType dtype() {
      return dtype;
    }

    @Override
    public long count() {
      return count;
    }

    @Override
    public void accept(PostedReceive receive) {
      context
          .executor()
          .execute(
              () -> {
                try {
                  acceptHere(receive);
                } catch (RuntimeException | Error e) {
                  // The event loop would swallow it.
                  receive.fail(e);
                }
              });
    }

    private void acceptHere(PostedReceive receive) {
      if (end != null) {
        receive.fail(lost());
        return;
      }
      if (count > 0) {
        underWay.put(id, receive);
      }
      ChannelFuture accepted = context.writeAndFlush(MessageFrames.accept(context.alloc(), id));
      accepted.addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
      if (count == 0) {
        // No data follows, but the sender must know before this rank may leave.
        accepted.addListener(sent -> receive.finish());
      }
    }

    @Override
    public void refuse(CollectiveMismatchException why) {
      context.writeAndFlush(MessageFrames.refuse(context.alloc(), id, why));
    }
  }
}
