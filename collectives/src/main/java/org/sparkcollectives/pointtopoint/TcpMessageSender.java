package org.sparkcollectives.pointtopoint;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.tensor.HostTensor;

/**
 * The sending side of one connection of messages. Lives on the connection's event loop, which also
 * copies the elements: accepted messages go out one after the other, as fast as the channel takes
 * them.
 */
final class TcpMessageSender extends SimpleChannelInboundHandler<ByteBuf> {

  /** Is told how the connection ends. */
  interface Listener {

    /** The connection is gone without a word. */
    void broken(String how);
  }

  private static final class Message {
    private final long id;
    private final HostTensor tensor;
    private final MessagePath.Listener listener;
    private long sent;

    Message(long id, HostTensor tensor, MessagePath.Listener listener) {
      this.id = id;
      this.tensor = tensor;
      this.listener = listener;
    }
  }

  private final Listener listener;
  private final Map<Long, Message> offered = new HashMap<>();
  private final Deque<Message> accepted = new ArrayDeque<>();
  private ChannelHandlerContext context;
  private boolean ended;
  private long nextId;

  TcpMessageSender(Listener listener) {
    this.listener = listener;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  /** Offers a message; on the event loop. */
  void offer(HostTensor tensor, int tag, MessagePath.Listener progress) {
    Message message = new Message(nextId++, tensor, progress);
    offered.put(message.id, message);
    context.writeAndFlush(
        MessageFrames.offer(context.alloc(), message.id, tag, tensor.dtype(), tensor.count()));
  }

  /** Says that no more will come, and closes the connection; on the event loop. */
  void end() {
    ended = true;
    context
        .writeAndFlush(MessageFrames.end(context.alloc()))
        .addListener(ChannelFutureListener.CLOSE);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext unused, ByteBuf frame) {
    byte kind = frame.readByte();
    if (kind == MessageFrames.END) {
      ended = true;
      return;
    }
    Message message = offered.remove(frame.readLong());
    if (message == null) {
      throw new IllegalStateException("an answer to a message that was not offered");
    }
    if (kind == MessageFrames.ACCEPT) {
      message.listener.matched();
      accepted.add(message);
      sendOn();
    } else {
      message.listener.failed(
          new CollectiveMismatchException(frame.toString(StandardCharsets.UTF_8)));
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext unused) {
    sendOn();
  }

  private void sendOn() {
    while (!accepted.isEmpty() && context.channel().isWritable()) {
      Message message = accepted.peek();
      long left = message.tensor.count() - message.sent;
      if (left > 0) {
        sendPart(message, left);
      }
      if (message.sent == message.tensor.count()) {
        accepted.poll();
        message.listener.sent();
      }
    }
    context.flush();
  }

  private void sendPart(Message message, long left) {
    int width = message.tensor.dtype().bytes();
    int elements = (int) Math.min(left, MessageFrames.MAX_DATA_BYTES / width);
    int prefix = 1 + Long.BYTES;
    ByteBuf frame = context.alloc().directBuffer(prefix + elements * width);
    frame.writeByte(MessageFrames.DATA).writeLong(message.id);
    ByteBuffer memory = frame.nioBuffer(prefix, elements * width).order(ByteOrder.nativeOrder());
    message.tensor.read(message.sent, elements, memory);
    frame.writerIndex(prefix + elements * width);
    message.sent += elements;
    context.write(frame);
  }

  @Override
  public void channelInactive(ChannelHandlerContext unused) {
    if (!ended) {
      ended = true;
      listener.broken("the connection was lost");
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext unused, Throwable cause) {
    if (!ended) {
      ended = true;
      listener.broken(cause.toString());
    }
    context.close();
  }
}
