package org.sparkcollectives.store.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.channels.ClosedChannelException;
import java.security.GeneralSecurityException;
import java.util.concurrent.TimeUnit;

/**
 * Encrypts what goes out, in records, and says that the connection ends before it closes it.
 *
 * <p>A record: its length (32 bits, big-endian, of all that follows), its kind ({@link #DATA} or
 * {@link #END}), the ciphertext, a tag of 16 bytes.
 */
final class RecordEncoder extends ChannelOutboundHandlerAdapter {

  static final byte DATA = 1;
  static final byte END = 2;

  /** As much as the collectives send at a time. */
  static final int MAX_PLAIN_BYTES = 128 << 10;

  /** The kind, the ciphertext and the tag. */
  static final int MAX_RECORD_BYTES = 1 + MAX_PLAIN_BYTES + RecordCipher.TAG_BYTES;

  /** How long a receiver may take to make room for the end. */
  private static final long END_MILLIS = 1000;

  private final RecordCipher cipher;
  private boolean ended;

  RecordEncoder(RecordCipher cipher) {
    this.cipher = cipher;
  }

  /** Whether this side has ended the connection, in good order or not. */
  boolean hasEnded() {
    return ended;
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (ended || !(message instanceof ByteBuf plain)) {
      ReferenceCountUtil.release(message);
      promise.tryFailure(
          ended
              ? new ClosedChannelException()
              : new IllegalArgumentException("Only bytes can be encrypted: " + message.getClass()));
      return;
    }
    try {
      context.write(records(context, plain), promise);
    } catch (GeneralSecurityException | RuntimeException e) {
      // A record that was counted, but not sent: what comes after it could not be read.
      ended = true;
      promise.tryFailure(e);
      context.close();
    } finally {
      plain.release();
    }
  }

  /** All records of a message as one: a write may call for others before it returns. */
  private ByteBuf records(ChannelHandlerContext context, ByteBuf plain)
      throws GeneralSecurityException {
    if (!plain.isReadable()) {
      return plain.retain();
    }
    if (plain.readableBytes() <= MAX_PLAIN_BYTES) {
      return record(context, DATA, plain);
    }
    CompositeByteBuf all = context.alloc().compositeBuffer(Integer.MAX_VALUE);
    boolean complete = false;
    try {
      while (plain.isReadable()) {
        ByteBuf part = plain.readSlice(Math.min(MAX_PLAIN_BYTES, plain.readableBytes()));
        all.addComponent(true, record(context, DATA, part));
      }
      complete = true;
      return all;
    } finally {
      if (!complete) {
        all.release();
      }
    }
  }

  private ByteBuf record(ChannelHandlerContext context, byte kind, ByteBuf plain)
      throws GeneralSecurityException {
    int sealed = plain.readableBytes() + RecordCipher.TAG_BYTES;
    int bytes = Integer.BYTES + 1 + sealed;
    ByteBuf record = context.alloc().ioBuffer(bytes, bytes);
    boolean complete = false;
    try {
      record.writeInt(1 + sealed).writeByte(kind);
      cipher.apply(kind, plain.nioBuffer(), record.nioBuffer(record.writerIndex(), sealed));
      record.writerIndex(bytes);
      complete = true;
      return record;
    } finally {
      if (!complete) {
        record.release();
      }
    }
  }

  /**
   * Sends the end, then closes. Where what was sent before is still on its way, waits for it a
   * second at the most: the receiver of an end that is missing takes the connection for cut off.
   */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise)
      throws GeneralSecurityException {
    if (!context.channel().isActive()) {
      context.close(promise);
      return;
    }
    if (ended) {
      context.channel().closeFuture().addListener(closed -> promise.trySuccess());
      return;
    }
    ended = true;
    ChannelFuture sent = context.writeAndFlush(record(context, END, Unpooled.EMPTY_BUFFER));
    if (sent.isDone()) {
      context.close(promise);
      return;
    }
    ScheduledFuture<?> alarm =
        context
            .executor()
            .schedule(() -> context.close(promise), END_MILLIS, TimeUnit.MILLISECONDS);
    sent.addListener(
        result -> {
          if (alarm.cancel(false)) {
            context.close(promise);
          }
        });
  }
}
