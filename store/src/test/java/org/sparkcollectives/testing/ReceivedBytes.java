package org.sparkcollectives.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** The end of a test's pipeline: keeps copies of the messages that arrive, and the failures. */
public final class ReceivedBytes extends ChannelInboundHandlerAdapter {

  private final List<byte[]> messages = new ArrayList<>();
  private final List<Throwable> failures = new ArrayList<>();

  /** Returns each message, in order. */
  public List<byte[]> messages() {
    return messages;
  }

  /** Returns the messages joined. */
  public byte[] joined() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    messages.forEach(all::writeBytes);
    return all.toByteArray();
  }

  /** Returns the failures that handlers before this one have thrown or reported. */
  public List<Throwable> failures() {
    return failures;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    messages.add(ByteBufUtil.getBytes(bytes));
    bytes.release();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    failures.add(cause);
  }
}
