package org.sparkcollectives.internal.pointtopoint;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.net.ProcessCounters;

/**
 * The sending side of one connection of messages. Lives on the connection's event loop, which also
 * copies the elements. Accepted messages are sent one after the other, as fast as the channel takes
 * them.
 */
final class TcpMessageSender extends SimpleChannelInboundHandler<ByteBuf> {

  private static final class Message {
    private final long id;
    private final PostedSend send;
    private long sent;

    Message(long id, PostedSend send) {
      this.id = id;
      this.send = send;
    }
  }

  private final ConnectionListener listener;
  private final Map<Long, Message> offered = new HashMap<>();
  private final Deque<Message> accepted = new ArrayDeque<>();
  private ChannelHandlerContext context;
  private boolean ended;
  private boolean sending;
  private long nextId;

  TcpMessageSender(ConnectionListener listener) {
    this.listener = listener;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  /** Offers a message; on the event loop, which would swallow an exception. */
  void offer(PostedSend send) {
    try {
      tryToOffer(send);
    } catch (RuntimeException | Error e) {
      send.fail(e);
    }
  }

  private void tryToOffer(PostedSend send) {
    Message message = new Message(nextId++, send);
    offered.put(message.id, message);
    boolean within = sending;
    sending = true;
    try {
      context
          .writeAndFlush(
              MessageFrames.offer(
                  context.alloc(), message.id, send.tag(), send.dtype(), send.count()))
          .addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
    } finally {
      sending = within;
    }
    sendOn();
  }

  /** Announces that no more messages will come, and closes the connection; on the event loop. */
  void end(long lastCollective) {
    ended = true;
    context
        .writeAndFlush(MessageFrames.end(context.alloc(), lastCollective))
        .addListener(ChannelFutureListener.CLOSE);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext unused, ByteBuf frame) {
    byte kind = frame.readByte();
    if (kind == MessageFrames.END) {
      ended = true;
      listener.finished(frame.readLong());
      return;
    }
    Message message = offered.remove(frame.readLong());
    if (message == null) {
      throw new IllegalStateException("an answer to a message that was not offered");
    }
    if (kind == MessageFrames.ACCEPT) {
      message.send.matched();
      accepted.add(message);
      sendOn();
    } else {
      message.send.fail(MessageFrames.refusal(frame));
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext unused) {
    sendOn();
  }

  /**
   * Sends as much as the channel takes. A write or flush may change the channel's writability, and
   * so call this again in the middle of a frame, into which nothing else may be written.
   */
  private void sendOn() {
    if (sending) {
      return;
    }
    sending = true;
    try {
      while (!accepted.isEmpty() && context.channel().isWritable()) {
        sendParts();
        context.flush();
      }
    } finally {
      sending = false;
    }
  }

  private void sendParts() {
    while (!accepted.isEmpty() && context.channel().isWritable()) {
      Message message = accepted.peek();
      long left = message.send.count() - message.sent;
      boolean wanted = left == 0 || sendPart(message, left);
      if (!wanted || message.sent == message.send.count()) {
        accepted.poll();
        message.send.finish();
      }
    }
  }

  /**
   * Sends the next part of a message; returns false if the send has ended, for example because its
   * group failed.
   */
  private boolean sendPart(Message message, long left) {
    int width = message.send.dtype().bytes();
    int elements = (int) Math.min(left, MessageFrames.MAX_DATA_BYTES / width);
    int prefix = 1 + Long.BYTES;
    ByteBuf frame = context.alloc().directBuffer(prefix + elements * width);
    frame.writeByte(MessageFrames.DATA).writeLong(message.id);
    ByteBuffer memory = frame.nioBuffer(prefix, elements * width).order(ByteOrder.nativeOrder());
    if (!message.send.read(message.sent, elements, memory)) {
      frame.release();
      return false;
    }
    frame.writerIndex(prefix + elements * width);
    message.sent += elements;
    ProcessCounters.sent(frame.readableBytes());
    context.write(frame).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
    return true;
  }

  @Override
  public void channelInactive(ChannelHandlerContext unused) {
    if (!ended) {
      ended = true;
      listener.broken(new IOException("the connection was lost"));
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext unused, Throwable cause) {
    if (!ended) {
      ended = true;
      listener.broken(new IOException(cause.toString(), cause));
    }
    context.close();
  }
}
