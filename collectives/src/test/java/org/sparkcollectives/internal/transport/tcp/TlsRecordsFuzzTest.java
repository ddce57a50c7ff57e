package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.TestTls;

/**
 * Tests records of a peer that sends anything after the handshake: the bytes that arrive are a
 * prefix of those that it encrypted, an error is an {@link IOException} that says what was wrong,
 * and no bytes are kept that were read or that nobody will read.
 */
class TlsRecordsFuzzTest {

  /** The parts of an input: each is a number of these, a length, and so many bytes. */
  private enum Part {
    /** Bytes as they are. */
    RAW,
    /** A record with the bytes as its content. */
    CONTENT,
    /** A record of which the end is missing. */
    CUT,
    /** A record of which a byte was changed. */
    CHANGED,
    /** As many records without content. */
    EMPTY,
    /** A new key of the peer, or in TLS 1.2 another handshake. */
    NEW_KEY,
    /** The announcement that nothing more comes. */
    CLOSE_NOTIFY
  }

  private static final int BUFFER = 1 << 16;
  private static final TestTls.Sides SIDES = sides();

  private static TestTls.Sides sides() {
    try {
      return TestTls.sides();
    } catch (Exception e) {
      throw new IllegalStateException("keytool made no key pair", e);
    }
  }

  /** The first byte chooses TLS 1.2 or 1.3, the second is the length of the pieces that arrive. */
  static Stream<byte[]> seeds() {
    byte[] longHeader = {23, 3, 3, (byte) 0xff, (byte) 0xff, 1};
    byte[] emptyRecord = {23, 3, 3, 0, 0};
    byte[] startOfRecord = {23, 3, 3, 0x40, 0, 1, 2};
    return Stream.of(0, 1)
        .flatMap(
            version ->
                Stream.of(
                    seed(version, 0, part(Part.CONTENT, new byte[40]), part(Part.CONTENT, 9)),
                    seed(version, 7, part(Part.CONTENT, new byte[100]), part(Part.CUT, 20)),
                    seed(version, 1, part(Part.CHANGED, 3), part(Part.CONTENT, 1)),
                    seed(version, 0, part(Part.CONTENT, 5), part(Part.CHANGED, 30)),
                    seed(version, 0, part(Part.RAW, longHeader)),
                    seed(version, 3, part(Part.RAW, emptyRecord), part(Part.RAW, emptyRecord)),
                    seed(version, 0, part(Part.RAW, startOfRecord)),
                    seed(version, 0, part(Part.RAW, new byte[100])),
                    seed(version, 0, part(Part.EMPTY, 20), part(Part.CONTENT, 4)),
                    seed(version, 0, part(Part.EMPTY, 200)),
                    seed(version, 0, part(Part.NEW_KEY, 1), part(Part.CONTENT, 4)),
                    seed(version, 50, part(Part.NEW_KEY, 20), part(Part.CONTENT, 4)),
                    seed(
                        version,
                        0,
                        part(Part.CONTENT, 4),
                        part(Part.CLOSE_NOTIFY, 0),
                        part(Part.RAW, new byte[100]),
                        part(Part.CONTENT, 4)),
                    seed(version, 2, part(Part.CLOSE_NOTIFY, 0), part(Part.RAW, longHeader))));
  }

  private static byte[] seed(int version, int pieceBytes, byte[]... parts) {
    ByteArrayOutputStream seed = new ByteArrayOutputStream();
    seed.write(version);
    seed.write(pieceBytes);
    for (byte[] part : parts) {
      seed.writeBytes(part);
    }
    return seed.toByteArray();
  }

  private static byte[] part(Part part, byte[] bytes) {
    return ByteBuffer.allocate(2 + bytes.length)
        .put((byte) part.ordinal())
        .put((byte) bytes.length)
        .put(bytes)
        .array();
  }

  private static byte[] part(Part part, int count) {
    return part(part, new byte[count]);
  }

  /** The peer, and what it has sent. */
  private static final class Peer {
    private final SSLEngine engine = SIDES.client().newEngine(ByteBufAllocator.DEFAULT);
    private final ByteArrayOutputStream wire = new ByteArrayOutputStream();
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();

    void send(Part part, byte[] bytes) throws SSLException {
      switch (part) {
        case RAW -> wire.writeBytes(bytes);
        case CONTENT -> wire.writeBytes(record(bytes));
        case CUT -> {
          byte[] record = record(new byte[64]);
          wire.write(record, 0, Math.min(record.length, bytes.length));
        }
        case CHANGED -> {
          byte[] record = record(new byte[64]);
          if (record.length > 0) {
            record[bytes.length % record.length] ^= 1;
          }
          wire.writeBytes(record);
        }
        case EMPTY -> {
          for (int i = 0; i < bytes.length; i++) {
            wire.writeBytes(record(new byte[0]));
          }
        }
        case NEW_KEY -> {
          for (int i = 0; i < bytes.length; i++) {
            if (engine.isOutboundDone()) {
              return;
            }
            engine.beginHandshake();
            runTasks(engine);
            wire.writeBytes(record(new byte[0]));
          }
        }
        case CLOSE_NOTIFY -> {
          engine.closeOutbound();
          wire.writeBytes(record(new byte[0]));
        }
      }
    }

    private byte[] record(byte[] bytes) throws SSLException {
      ByteBuffer record = ByteBuffer.allocate(BUFFER);
      ByteBuffer plain = ByteBuffer.wrap(bytes);
      engine.wrap(plain, record);
      content.write(bytes, 0, plain.position());
      return Arrays.copyOf(record.array(), record.position());
    }
  }

  private static void runTasks(SSLEngine engine) {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  /** Performs the TLS handshake of two engines in memory. */
  private static void shakeHands(SSLEngine client, SSLEngine server) throws SSLException {
    ByteBuffer toServer = ByteBuffer.allocate(BUFFER);
    ByteBuffer toClient = ByteBuffer.allocate(BUFFER);
    client.beginHandshake();
    server.beginHandshake();
    boolean moved = true;
    while (moved) {
      boolean clientMoved = step(client, toClient, toServer);
      moved = step(server, toServer, toClient) || clientMoved;
    }
    assertThat(client.getHandshakeStatus()).isEqualTo(HandshakeStatus.NOT_HANDSHAKING);
    assertThat(server.getHandshakeStatus()).isEqualTo(HandshakeStatus.NOT_HANDSHAKING);
  }

  /** Does what an engine wants next; returns whether it did anything. */
  private static boolean step(SSLEngine engine, ByteBuffer in, ByteBuffer out) throws SSLException {
    runTasks(engine);
    if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
      return engine.wrap(ByteBuffer.allocate(0), out).bytesProduced() > 0;
    }
    in.flip();
    try {
      return in.hasRemaining()
          && engine.unwrap(in, ByteBuffer.allocate(BUFFER)).bytesConsumed() > 0;
    } finally {
      in.compact();
    }
  }

  /** Keeps what was decrypted, and closes the connection at an error. */
  private static final class Received extends ChannelInboundHandlerAdapter {
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private final List<Throwable> errors = new ArrayList<>();

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws IOException {
      ByteBuf bytes = (ByteBuf) message;
      bytes.readBytes(content, bytes.readableBytes());
      bytes.release();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      errors.add(cause);
      context.close();
    }
  }

  @MethodSource("seeds")
  @FuzzTest
  void whatArrivesIsTheBeginningOfWhatWasEncryptedAndNothingIsKept(byte[] input) throws Exception {
    ByteBuffer parts = ByteBuffer.wrap(input);
    boolean old = parts.hasRemaining() && parts.get() % 2 == 0;
    int pieceBytes = parts.hasRemaining() ? parts.get() & 0xff : 0;
    Peer peer = new Peer();
    SSLEngine engine = SIDES.server().newEngine(ByteBufAllocator.DEFAULT);
    engine.setEnabledProtocols(new String[] {old ? "TLSv1.2" : "TLSv1.3"});
    shakeHands(peer.engine, engine);
    while (parts.remaining() >= 2) {
      Part part = Part.values()[(parts.get() & 0xff) % Part.values().length];
      byte[] bytes = new byte[Math.min(parts.get() & 0xff, parts.remaining())];
      parts.get(bytes);
      peer.send(part, bytes);
    }
    Received received = receive(engine, peer.wire.toByteArray(), pieceBytes);

    byte[] came = received.content.toByteArray();
    assertThat(came.length).isLessThanOrEqualTo(peer.content.size());
    assertThat(came).isEqualTo(Arrays.copyOf(peer.content.toByteArray(), came.length));
    assertThat(received.errors).hasSizeLessThanOrEqualTo(1);
    assertThat(received.errors)
        .allSatisfy(
            each -> assertThat(each).isInstanceOf(IOException.class).message().isNotBlank());
  }

  private static Received receive(SSLEngine engine, byte[] wire, int pieceBytes) {
    SegmentPool segments = new SegmentPool(TlsRecords.RECORD_BYTES);
    DirectSocketChannel socket = new DirectSocketChannel(segments);
    Received received = new Received();
    EmbeddedChannel channel = new EmbeddedChannel(new TlsRecords(socket, engine, false), received);
    int length = pieceBytes == 0 ? Math.max(1, wire.length) : pieceBytes;
    for (int at = 0; at < wire.length && channel.isOpen(); at += length) {
      ByteBuf piece = Unpooled.copiedBuffer(wire, at, Math.min(length, wire.length - at));
      channel.writeInbound(piece);
      assertThat(piece.refCnt()).as("references to what was read").isZero();
    }
    channel.finishAndReleaseAll();
    assertThat(segments.bytesInUse()).isZero();
    socket.unsafe().closeForcibly();
    segments.close();
    return received;
  }
}
