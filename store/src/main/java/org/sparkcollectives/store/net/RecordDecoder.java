package org.sparkcollectives.store.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.security.GeneralSecurityException;

/**
 * Decrypts the records of {@link RecordEncoder}, which a {@link FrameDecoder} has cut.
 *
 * <p>Whatever is not what the other side has sent, in its order, up to its end, closes the
 * connection with an {@link IOException}; nothing of such a record is passed on.
 */
final class RecordDecoder extends ChannelInboundHandlerAdapter {

  private final RecordCipher cipher;
  private final RecordEncoder ownSide;
  private boolean ended;
  private boolean failed;

  /** With what goes the other way: a connection that this side ends need not be ended by both. */
  RecordDecoder(RecordCipher cipher, RecordEncoder ownSide) {
    this.cipher = cipher;
    this.ownSide = ownSide;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf record = (ByteBuf) message;
    ByteBuf plain = null;
    try {
      if (!failed) {
        plain = decrypt(context, record);
      }
    } finally {
      record.release();
    }
    if (plain != null) {
      context.fireChannelRead(plain);
    }
  }

  /** The content of a record; null if it has none, or is not what was sent. */
  private ByteBuf decrypt(ChannelHandlerContext context, ByteBuf record) {
    int length = record.readableBytes() - 1 - RecordCipher.TAG_BYTES;
    if (length < 0 || ended) {
      fail(context, ended ? "more came after the announced end" : "a record is too short");
      return null;
    }
    byte kind = record.readByte();
    if (length == 0 ? kind != RecordEncoder.END : kind != RecordEncoder.DATA) {
      fail(context, "a record of kind " + kind + " with " + length + " bytes");
      return null;
    }
    ByteBuf plain = context.alloc().directBuffer(length, length);
    boolean genuine = false;
    try {
      cipher.apply(kind, record.nioBuffer(), plain.nioBuffer(0, length));
      plain.writerIndex(length);
      genuine = true;
    } catch (GeneralSecurityException e) {
      fail(
          context,
          "record "
              + cipher.records()
              + " was changed on the way, or is not the next that the other side has sent");
    } finally {
      if (!genuine || length == 0) {
        plain.release();
      }
    }
    ended |= genuine && kind == RecordEncoder.END;
    return genuine && length > 0 ? plain : null;
  }

  private void fail(ChannelHandlerContext context, String why) {
    failed = true;
    context.fireExceptionCaught(
        new IOException(
            "The encrypted connection with " + context.channel().remoteAddress() + ": " + why));
    context.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (!ended && !failed && !ownSide.hasEnded()) {
      failed = true;
      context.fireExceptionCaught(
          new IOException(
              "the connection was lost without the end that its sender vouches for: the other"
                  + " process is gone, or somebody has cut the connection"));
    }
    context.fireChannelInactive();
  }

  /** What follows from the first failure, before the connection is closed, is no other one. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (!failed) {
      failed = true;
      context.fireExceptionCaught(cause);
    }
  }
}
