package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslHandler;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.internal.transport.ByteSource;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.net.EventLoops;
import org.sparkcollectives.testing.TestTls;

/** A thread that encrypts and decrypts, against the JDK's own sockets with TLS. */
@Timeout(120)
class TlsRecordsTest {

  private static final String TLS_13 = "TLSv1.3";
  private static final String TLS_12 = "TLSv1.2";
  private static final int MANY = 1 << 20;

  private final List<String> events = new CopyOnWriteArrayList<>();
  private final SegmentPool segments = new SegmentPool(TlsRecords.RECORD_BYTES);
  private final EventLoops loops = EventLoops.openNio("tls-test", 1);
  private final CompletableFuture<DirectSocketChannel> accepted = new CompletableFuture<>();
  private final ConnectionListener listener =
      new ConnectionListener() {
        @Override
        public void finished(long lastCollective) {
          events.add("finished after " + lastCollective);
        }

        @Override
        public void broken(Throwable cause) {
          events.add(cause.getMessage());
        }
      };

  private TestTls.Sides sides;
  private Channel port;
  private Socket wire;
  private SSLSocket peer;
  private SocketSource source;
  private SocketSink sink;

  /** Keeps what it reads. */
  private static final class Kept implements ByteSource.Reader {
    private final ByteBuffer bytes;

    Kept(int count) {
      bytes = ByteBuffer.allocate(count);
    }

    @Override
    public long wanted() {
      return bytes.remaining();
    }

    @Override
    public void read(ByteBuffer received) {
      int end = received.limit();
      received.limit(Math.min(end, received.position() + bytes.remaining()));
      bytes.put(received);
      received.limit(end);
    }
  }

  @BeforeEach
  void listen() throws Exception {
    sides = TestTls.sides();
    port =
        new ServerBootstrap()
            .group(loops.group())
            .channelFactory(() -> new DirectServerSocketChannel(segments))
            .childHandler(
                new ChannelInitializer<DirectSocketChannel>() {
                  @Override
                  protected void initChannel(DirectSocketChannel channel) {
                    SslHandler handler = sides.server().newHandler(channel.alloc());
                    channel.pipeline().addLast(handler);
                    handler
                        .handshakeFuture()
                        .addListener(
                            done -> {
                              if (done.isSuccess()) {
                                accept(channel);
                              }
                            });
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), 0)
            .sync()
            .channel();
  }

  /** On the event loop, within the handler. */
  private void accept(DirectSocketChannel channel) {
    if (sending) {
      SslHandler handshake = channel.pipeline().get(SslHandler.class);
      channel.pipeline().addLast(new ReturnPath(listener));
      Channel plain = channel;
      plain
          .eventLoop()
          .execute(
              () -> {
                try {
                  sink = new SocketSink(channel, TlsRecords.takeOver(channel, handshake, false));
                  accepted.complete(channel);
                } catch (IOException e) {
                  accepted.completeExceptionally(e);
                }
              });
      return;
    }
    source = new SocketSource(channel, listener);
    channel.pipeline().addLast(source);
    source.takeOver();
    if (freedAtOnce) {
      source.close();
    }
    accepted.complete(channel);
  }

  private boolean sending;
  private boolean freedAtOnce;

  private void connect(String protocol) throws IOException {
    InetSocketAddress address = (InetSocketAddress) port.localAddress();
    wire = new Socket(address.getAddress(), address.getPort());
    peer =
        (SSLSocket)
            ((JdkSslContext) sides.client())
                .context()
                .getSocketFactory()
                .createSocket(wire, "localhost", address.getPort(), true);
    peer.setEnabledProtocols(new String[] {protocol});
    peer.startHandshake();
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    if (accepted.isDone() && !accepted.isCompletedExceptionally()) {
      accepted.join().close().sync();
    }
    if (source != null) {
      source.close();
    }
    if (sink != null) {
      sink.close();
    }
    if (wire != null) {
      wire.close();
    }
    port.close().sync();
    loops.close();
    assertThat(segments.bytesInUse()).isZero();
    segments.close();
  }

  private static byte[] random(int count) {
    byte[] bytes = new byte[count];
    new Random(41).nextBytes(bytes);
    return bytes;
  }

  private byte[] read(int count) {
    accepted.join();
    Kept kept = new Kept(count);
    while (kept.bytes.hasRemaining()) {
      assertThat(events).isEmpty();
      if (!source.read(kept)) {
        Thread.onSpinWait();
      }
    }
    return kept.bytes.array();
  }

  private void readUntilItEnds() {
    accepted.join();
    Kept kept = new Kept(MANY);
    while (events.isEmpty()) {
      if (!source.read(kept)) {
        Thread.onSpinWait();
      }
    }
  }

  private void send(byte[] bytes) {
    accepted.join();
    int[] sent = {0};
    while (sent[0] < bytes.length) {
      boolean taken =
          sink.offer(
              Math.min(128 * 1024, bytes.length - sent[0]),
              segment -> {
                int count = Math.min(segment.remaining(), bytes.length - sent[0]);
                segment.put(bytes, sent[0], count);
                sent[0] += count;
              });
      if (!taken) {
        Thread.onSpinWait();
      }
    }
    while (!sink.drain()) {
      Thread.onSpinWait();
    }
  }

  private CompletableFuture<byte[]> peerReads(int count) {
    CompletableFuture<byte[]> read = new CompletableFuture<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                byte[] bytes = new byte[count];
                new DataInputStream(peer.getInputStream()).readFully(bytes);
                read.complete(bytes);
              } catch (IOException e) {
                read.completeExceptionally(e);
              }
            });
    reader.setDaemon(true);
    reader.start();
    return read;
  }

  @ParameterizedTest
  @ValueSource(strings = {TLS_12, TLS_13})
  void whatIsSentAtOnceAndLaterComesWholeAndInOrder(String protocol) throws Exception {
    connect(protocol);
    byte[] bytes = random(MANY + 7);
    CompletableFuture<Void> written =
        CompletableFuture.runAsync(
            () -> {
              try {
                OutputStream out = peer.getOutputStream();
                int[] sizes = {1, 40, 16_384, 100_000, MANY};
                int at = 0;
                for (int i = 0; at < bytes.length; i++) {
                  int count = Math.min(sizes[i % sizes.length], bytes.length - at);
                  out.write(bytes, at, count);
                  at += count;
                }
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    assertThat(read(1)).isEqualTo(Arrays.copyOf(bytes, 1));
    assertThat(read(MANY + 6)).isEqualTo(Arrays.copyOfRange(bytes, 1, bytes.length));
    written.join();
    assertThat(source.hasBytes()).isFalse();
    assertThat(segments.bytesInUse()).isZero();
  }

  @Test
  void aNewKeyOfTheSenderIsTakenAndAnsweredWithTheNextBytes() throws Exception {
    connect(TLS_13);
    // As many as may wait for an answer, which the event loop gives when it gets round to it.
    for (int i = 0; i < TlsRecords.MOST_UNANSWERED; i++) {
      // In TLS 1.3, the JDK changes its keys at this, and asks for new ones of the other side.
      peer.startHandshake();
      byte[] bytes = random(1000 + i);
      peer.getOutputStream().write(bytes);
      assertThat(read(bytes.length)).isEqualTo(bytes);
    }
    ReturnPath.end(accepted.join(), 5);
    byte[] end = new byte[9];
    new DataInputStream(peer.getInputStream()).readFully(end);
    assertThat(end[8]).isEqualTo((byte) 5);
    assertThat(peer.getInputStream().read()).as("a close in good order").isEqualTo(-1);
  }

  @Test
  void aSenderTakesANewKeyOfTheReceiver() throws Exception {
    sending = true;
    connect(TLS_13);
    for (int i = 0; i < 5; i++) {
      byte[] bytes = random(300_000);
      CompletableFuture<byte[]> read = peerReads(bytes.length);
      send(bytes);
      assertThat(read.get()).isEqualTo(bytes);
      peer.startHandshake();
    }
    accepted.join().writeAndFlush(Unpooled.wrappedBuffer(MessageHeader.end(3)));
    accepted.join().close();
    peerReads(MessageHeader.BYTES).get();
    assertThat(peer.getInputStream().read()).as("a close in good order").isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(strings = {TLS_12, TLS_13})
  void manyBytesGoToAPeerThatReadsSlowly(String protocol) throws Exception {
    sending = true;
    connect(protocol);
    byte[] bytes = random(8 * MANY + 1);
    CompletableFuture<byte[]> read = peerReads(bytes.length);
    send(bytes);
    assertThat(read.get()).isEqualTo(bytes);
    assertThat(segments.bytesInUse()).isZero();
  }

  @Test
  void aPeerThatChangesItsKeyAgainAndAgainBreaksTheConnectionWhileNothingIsSent() throws Exception {
    sending = true;
    connect(TLS_13);
    accepted.join();
    for (int i = 0; i <= TlsRecords.MOST_UNANSWERED; i++) {
      peer.startHandshake();
    }
    while (events.isEmpty()) {
      Thread.onSpinWait();
    }
    assertThat(events).hasSize(1);
    assertThat(events.get(0)).contains("it changes the key of TLS again and again");
  }

  @Test
  void theReceiversLastWordComesBack() throws Exception {
    sending = true;
    connect(TLS_13);
    accepted.join();
    peer.getOutputStream().write(new byte[] {2, 0, 0, 0, 0, 0, 0, 0, 9});
    peer.close();
    while (events.isEmpty()) {
      Thread.onSpinWait();
    }
    assertThat(events).containsExactly("finished after 9");
  }

  @Test
  void garbageOnTheWayBackBreaksTheConnection() throws Exception {
    sending = true;
    connect(TLS_13);
    accepted.join();
    wire.getOutputStream().write(new byte[100]);
    while (events.isEmpty()) {
      Thread.onSpinWait();
    }
    assertThat(events).hasSize(1);
    assertThat(events.get(0)).contains("it sent something that is not a TLS record");
  }

  @ParameterizedTest
  @ValueSource(strings = {TLS_12, TLS_13})
  void anEndOfTlsWithoutOursIsALoss(String protocol) throws Exception {
    connect(protocol);
    peer.getOutputStream().write(random(100));
    peer.close();
    readUntilItEnds();
    assertThat(events).containsExactly("the connection was lost");
  }

  @Test
  void anEndInTheMiddleOfARecordIsALoss() throws Exception {
    connect(TLS_13);
    accepted.join();
    wire.getOutputStream().write(new byte[] {23, 3, 3, 0x40, 0, 1, 2, 3});
    wire.close();
    readUntilItEnds();
    assertThat(events).containsExactly("the connection was lost");
  }

  @Test
  void aRecordThatWasChangedBreaksTheConnection() throws Exception {
    connect(TLS_13);
    accepted.join();
    byte[] record = random(5 + 64);
    System.arraycopy(new byte[] {23, 3, 3, 0, 64}, 0, record, 0, 5);
    wire.getOutputStream().write(record);
    readUntilItEnds();
    assertThat(events).hasSize(1);
    assertThat(events.get(0)).contains("Exception");
  }

  @Test
  void whatIsNoRecordBreaksTheConnection() throws Exception {
    connect(TLS_13);
    accepted.join();
    wire.getOutputStream().write(new byte[100]);
    readUntilItEnds();
    assertThat(events).hasSize(1);
    assertThat(events.get(0)).contains("it sent something that is not a TLS record");
  }

  @Test
  void aRecordThatIsTooLargeBreaksTheConnection() throws Exception {
    connect(TLS_13);
    accepted.join();
    wire.getOutputStream().write(new byte[] {23, 3, 3, (byte) 0xff, (byte) 0xff, 0});
    readUntilItEnds();
    assertThat(events).hasSize(1);
    assertThat(events.get(0)).contains("it sent a TLS record of 65535 bytes");
  }

  @Test
  void anotherHandshakeBreaksTheConnection() throws Exception {
    connect(TLS_12);
    accepted.join();
    CompletableFuture<Void> renewed =
        CompletableFuture.runAsync(
            () -> {
              try {
                peer.startHandshake();
              } catch (IOException e) {
                // Nobody answers.
              }
            });
    readUntilItEnds();
    assertThat(events).hasSize(1);
    assertThat(events.get(0)).contains("it began another TLS handshake");
    renewed.join();
  }

  @Test
  void whatComesToASourceThatWasFreedBeforeItBeganIsReleased() throws Exception {
    freedAtOnce = true;
    connect(TLS_13);
    peer.getOutputStream().write(random(1000));
    accepted.join();
    assertThat(source.hasBytes()).isFalse();
    assertThat(events).isEmpty();
  }

  @Test
  void memoryForEncryptedBytesIsEnough() {
    for (int capacity : new int[] {TlsRecords.RECORD_BYTES, 128 * 1024}) {
      int plain = TlsRecords.plainBytes(capacity);
      assertThat(TlsRecords.encryptedBytes(plain)).isLessThanOrEqualTo(capacity);
    }
  }
}
