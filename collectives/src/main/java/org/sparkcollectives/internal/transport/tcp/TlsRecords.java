package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.sparkcollectives.internal.transport.ByteSink;

/**
 * The TLS of a connection of collectives from the end of the handshake on, in the place of Netty's
 * {@link SslHandler}: the thread of a collective encrypts what it sends and decrypts what it
 * receives, each record on its own, and the event loop does so for the few bytes that go the other
 * way and that end the connection.
 *
 * <p>One thread decrypts: that of the collective where messages come in, the event loop where they
 * go out. The collective's thread and the event loop both encrypt, where messages go out, but never
 * at the same time: the event loop does so once that thread has sent its last message. One may
 * encrypt while another decrypts, which {@link SSLEngine} permits; the order of the records is that
 * of the calls of {@link #encrypt}.
 *
 * <p>The engine sees the bytes of a record in an array: that of the JDK encrypts arrays in place,
 * and copies other memory twice. A new key of the peer is answered (RFC 8446, 4.6.3) by the event
 * loop at once where messages come in, else with the next bytes. There is no other handshake: a
 * peer that begins one, as TLS before 1.3 permits, breaks the connection.
 */
final class TlsRecords extends ChannelDuplexHandler {

  /** The largest record that is accepted, and the room for what is in it. */
  static final int RECORD_BYTES = 20 * 1024;

  private static final int PLAIN_BYTES = 16 * 1024;
  private static final int HEADER_BYTES = 5;
  private static final int LENGTH_INDEX = 3;

  /** The first and last type of a record (RFC 8446, 5.1), and the first half of its version. */
  private static final int FIRST_TYPE = 20;

  private static final int LAST_TYPE = 23;
  private static final int MAJOR_VERSION = 3;

  /** The most bytes that any version of TLS adds to the content of a record. */
  private static final int MOST_OVERHEAD = 325;

  /** The bytes that TLS 1.3 with AES-GCM adds, without padding. */
  private static final int USUAL_OVERHEAD = 22;

  /** How many new keys of the peer may wait for an answer. */
  static final int MOST_UNANSWERED = 8;

  /**
   * How many records without content may come while no content goes either way. Where content only
   * goes out all that comes is answers to new keys.
   */
  private static final int MOST_WITHOUT_CONTENT = 32;

  private static final ThreadLocal<ByteBuffer> RECORD =
      ThreadLocal.withInitial(() -> ByteBuffer.allocate(RECORD_BYTES));

  private final SSLEngine engine;
  private final DirectSocketChannel channel;
  private final boolean fromSocket;
  private final boolean hasKeyUpdates;

  /** The encrypted bytes that the event loop has read. */
  private final Queue<ByteBuf> early = new ConcurrentLinkedQueue<>();

  /** The segment that has bytes which are not decrypted yet, or null. */
  private SegmentPool.Segment encrypted;

  private final AtomicInteger unanswered = new AtomicInteger();
  private final AtomicBoolean answering = new AtomicBoolean();
  private final AtomicInteger withoutContent = new AtomicInteger();
  private int overhead = USUAL_OVERHEAD;
  private boolean ended;
  private volatile boolean closed;

  /** Whether the event loop has encrypted the last message of this side. */
  private boolean spoken;

  /** Creates what goes on with an engine whose handshake is over. See {@link #takeOver}. */
  TlsRecords(DirectSocketChannel channel, SSLEngine engine, boolean fromSocket) {
    this.channel = channel;
    this.engine = engine;
    this.fromSocket = fromSocket;
    this.hasKeyUpdates = engine.getSession().getProtocol().equals("TLSv1.3");
  }

  /**
   * Takes the place of Netty's handler, after the handshake, with what that has not decrypted. On
   * the event loop, outside of the handlers.
   *
   * @param fromSocket whether a thread reads from the socket, and the event loop has ceased to;
   *     else the event loop reads
   * @throws IOException if the connection is closed
   */
  static TlsRecords takeOver(DirectSocketChannel channel, SslHandler netty, boolean fromSocket)
      throws IOException {
    TlsRecords records = new TlsRecords(channel, netty.engine(), fromSocket);
    try {
      // Netty's handler releases it when it goes.
      ReferenceCountUtil.retain(netty.engine());
    } catch (IllegalReferenceCountException e) {
      throw new IOException("the connection was lost", e);
    }
    try {
      ChannelPipeline pipeline = channel.pipeline();
      pipeline.replace(netty, null, records);
    } catch (NoSuchElementException e) {
      ReferenceCountUtil.release(netty.engine());
      throw new IOException("the connection was lost", e);
    }
    return records;
  }

  // What goes out.

  /** Returns how many bytes can be encrypted into memory of a size. */
  static int plainBytes(int encryptedBytes) {
    // Of two records only one is full, and the engine may say something itself.
    return encryptedBytes - (encryptedBytes / PLAIN_BYTES + 2) * MOST_OVERHEAD;
  }

  /** Returns how much memory {@code plainBytes} take once they are encrypted, at the most. */
  static int encryptedBytes(int plainBytes) {
    return plainBytes + (plainBytes / PLAIN_BYTES + 2) * MOST_OVERHEAD;
  }

  /**
   * Encrypts bytes into memory that {@link #encryptedBytes} is enough for.
   *
   * @throws SSLException if the connection is closed
   */
  synchronized void encrypt(ByteBuffer bytes, ByteBuffer into) throws SSLException {
    unanswered.set(0);
    withoutContent.set(0);
    int end = bytes.limit();
    while (bytes.position() < end) {
      bytes.limit(Math.min(end, bytes.position() + PLAIN_BYTES));
      wrap(bytes, into);
    }
  }

  private void wrap(ByteBuffer bytes, ByteBuffer into) throws SSLException {
    ByteBuffer record = record();
    SSLEngineResult result = engine.wrap(bytes, record);
    if (result.getStatus() != SSLEngineResult.Status.OK || result.bytesProduced() == 0) {
      throw new SSLException("nothing can be encrypted any more: " + result);
    }
    into.put(record.flip());
  }

  private ByteBuffer record() {
    int bytes = engine.getSession().getPacketBufferSize();
    ByteBuffer record = RECORD.get();
    if (record.capacity() < bytes) {
      record = ByteBuffer.allocate(bytes);
      RECORD.set(record);
    }
    return record.clear();
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    ByteBuf bytes = (ByteBuf) message;
    ByteBuf out = context.alloc().directBuffer(encryptedBytes(bytes.readableBytes()));
    try {
      if (fromSocket) {
        speakIfWanted(context);
      }
      ByteBuffer memory = out.nioBuffer(0, out.capacity());
      encrypt(bytes.nioBuffer(), memory);
      spoken = true;
      context.write(out.retain().writerIndex(memory.position()), promise);
    } catch (SSLException e) {
      promise.tryFailure(e);
    } finally {
      out.release();
      bytes.release();
    }
  }

  /** Says that the connection ends, if it ends in good order, and closes it. */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    if (spoken && context.channel().isActive()) {
      spoken = false;
      engine.closeOutbound();
      speak(context);
    }
    context.close(promise);
  }

  private void speakIfWanted(ChannelHandlerContext context) {
    if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
      speak(context);
    }
  }

  /** Sends what the engine has to say itself; on the event loop, while no thread encrypts. */
  private synchronized void speak(ChannelHandlerContext context) {
    unanswered.set(0);
    ByteBuf out = context.alloc().directBuffer(2 * RECORD_BYTES);
    try {
      int produced;
      do {
        ByteBuffer record = record();
        produced = engine.wrap(ByteBuffer.allocate(0), record).bytesProduced();
        out.writeBytes(record.flip());
      } while (produced > 0 && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP);
    } catch (SSLException e) {
      // The connection has ended, which is told where it is read.
    }
    context.writeAndFlush(out);
  }

  // What comes in.

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    early.add((ByteBuf) message);
    if (closed) {
      releaseEarly();
    } else if (!fromSocket) {
      decrypt(context);
    }
  }

  private void decrypt(ChannelHandlerContext context) {
    try {
      int count;
      do {
        ByteBuf bytes = context.alloc().directBuffer(RECORD_BYTES);
        try {
          count = read(bytes.nioBuffer(0, RECORD_BYTES), PLAIN_BYTES);
          if (count > 0) {
            context.fireChannelRead(bytes.retain().writerIndex(count));
          }
        } finally {
          bytes.release();
        }
      } while (count > 0);
      if (count < 0) {
        // Nothing may follow, and nothing that does is kept.
        drop();
      }
    } catch (IOException e) {
      drop();
      context.fireExceptionCaught(e);
    }
  }

  /**
   * Decrypts the next record that has content. Only one thread may call this.
   *
   * @param into has room for {@link #RECORD_BYTES}
   * @param wanted how much content is wanted for now: reads no more than that from the socket, or a
   *     record
   * @return how many bytes are in {@code into}; 0 if none have come yet, -1 if none will come
   * @throws IOException if what has come is no TLS, was changed on the way, or is not expected
   */
  int read(ByteBuffer into, long wanted) throws IOException {
    int start = into.position();
    while (!ended && into.position() == start) {
      int bytes = wholeRecord();
      if (bytes > 0) {
        unwrap(bytes, into);
      } else {
        int count = receive(wanted);
        if (count <= 0) {
          return count;
        }
      }
    }
    return ended ? -1 : into.position() - start;
  }

  /** Returns the size of the record that has come first; 0 if it has not come as a whole. */
  private int wholeRecord() throws IOException {
    int bytes = nextRecord();
    return encrypted != null && encrypted.bytes().remaining() >= bytes ? bytes : 0;
  }

  /** Returns the size of the next record; that of a header as long as that has not come. */
  private int nextRecord() throws IOException {
    if (encrypted == null || encrypted.bytes().remaining() < HEADER_BYTES) {
      return HEADER_BYTES;
    }
    ByteBuffer bytes = encrypted.bytes();
    int at = bytes.position();
    int type = bytes.get(at);
    int length =
        (bytes.get(at + LENGTH_INDEX) & 0xff) << Byte.SIZE
            | (bytes.get(at + LENGTH_INDEX + 1) & 0xff);
    if (type < FIRST_TYPE || type > LAST_TYPE || bytes.get(at + 1) != MAJOR_VERSION) {
      throw new SSLException("it sent something that is not a TLS record");
    }
    if (length > RECORD_BYTES - HEADER_BYTES) {
      throw new SSLException("it sent a TLS record of " + length + " bytes");
    }
    return HEADER_BYTES + length;
  }

  private void unwrap(int bytes, ByteBuffer into) throws IOException {
    ByteBuffer record = record();
    ByteBuffer from = encrypted.bytes();
    int end = from.limit();
    record.put(from.limit(from.position() + bytes));
    from.limit(end);
    record.flip();
    giveBackIfRead();
    SSLEngineResult result = engine.unwrap(record, into);
    switch (result.getStatus()) {
      case OK -> checkHandshake(result);
      case CLOSED -> ended = true;
      default -> throw new SSLException("it sent a TLS record that cannot be read: " + result);
    }
    if (result.bytesProduced() > 0) {
      overhead = bytes - result.bytesProduced();
      withoutContent.set(0);
    } else if (withoutContent.incrementAndGet() > MOST_WITHOUT_CONTENT) {
      throw new SSLException("it sends TLS records without content");
    }
  }

  private void checkHandshake(SSLEngineResult result) throws SSLException {
    HandshakeStatus status = result.getHandshakeStatus();
    if (status == HandshakeStatus.NOT_HANDSHAKING || status == HandshakeStatus.FINISHED) {
      return;
    }
    if (!hasKeyUpdates || status != HandshakeStatus.NEED_WRAP) {
      throw new SSLException("it began another TLS handshake");
    }
    // With content, the engine asks for a new key itself, after many bytes.
    if (result.bytesProduced() == 0 && unanswered.incrementAndGet() > MOST_UNANSWERED) {
      throw new SSLException("it changes the key of TLS again and again");
    }
    if (fromSocket && answering.compareAndSet(false, true)) {
      // As a Channel: what a NioSocketChannel returns differs between Netty 4.1 and 4.2.
      Channel plain = channel;
      plain.eventLoop().execute(this::answer);
    }
  }

  private void answer() {
    answering.set(false);
    ChannelHandlerContext context = channel.pipeline().context(this);
    if (context != null) {
      speakIfWanted(context);
    }
  }

  /** Gets encrypted bytes; returns 0 if there are none now, -1 if there never will be again. */
  private int receive(long wanted) throws IOException {
    long content = Math.min(wanted, ByteSink.SEGMENT_BYTES);
    long most = Math.max(nextRecord(), content + (content / PLAIN_BYTES + 1) * overhead);
    if (encrypted == null) {
      encrypted = channel.segments().take(most);
    } else {
      encrypted.bytes().compact();
    }
    ByteBuffer bytes = encrypted.bytes();
    try {
      bytes.limit((int) Math.max(bytes.position(), Math.min(bytes.capacity(), most)));
      if (!early.isEmpty()) {
        return takeEarly(bytes);
      }
      return fromSocket ? channel.directSocket().read(bytes) : 0;
    } finally {
      bytes.flip();
      giveBackIfRead();
    }
  }

  private int takeEarly(ByteBuffer buffer) {
    ByteBuf first = early.element();
    int count = Math.min(first.readableBytes(), buffer.remaining());
    buffer.limit(buffer.position() + count);
    first.readBytes(buffer);
    if (!first.isReadable()) {
      early.remove().release();
    }
    return count;
  }

  private void giveBackIfRead() {
    if (!encrypted.bytes().hasRemaining()) {
      channel.segments().giveBack(encrypted);
      encrypted = null;
    }
  }

  /** Drops what was not decrypted; when nobody decrypts any more. */
  void drop() {
    closed = true;
    releaseEarly();
    if (encrypted != null) {
      channel.segments().giveBack(encrypted);
      encrypted = null;
    }
  }

  private void releaseEarly() {
    for (ByteBuf each = early.poll(); each != null; each = early.poll()) {
      each.release();
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (!fromSocket) {
      drop();
    }
    ReferenceCountUtil.release(engine);
  }
}
