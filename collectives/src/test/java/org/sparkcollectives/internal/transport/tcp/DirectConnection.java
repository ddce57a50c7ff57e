package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Function;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.net.EventLoops;

/**
 * A connection whose one end is a channel that a thread may use itself, and the other a socket of
 * the test. Closing checks that the channel's memory was given back.
 */
final class DirectConnection implements AutoCloseable {

  private final SegmentPool segments = new SegmentPool(SegmentPool.SMALL_BYTES);
  private final SocketChannel peer;
  private final DirectSocketChannel channel;

  /** Connects; the channel belongs to one of the loops. */
  DirectConnection(EventLoops loops) throws IOException {
    this(loops, DirectSocketChannel::new);
  }

  /** Connects a channel that {@code channels} makes. */
  DirectConnection(EventLoops loops, Function<SegmentPool, DirectSocketChannel> channels)
      throws IOException {
    channel = channels.apply(segments);
    loops.group().register(channel).syncUninterruptibly();
    try (ServerSocketChannel port = ServerSocketChannel.open()) {
      port.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      channel.connect(port.getLocalAddress()).syncUninterruptibly();
      peer = port.accept();
    }
  }

  DirectSocketChannel channel() {
    return channel;
  }

  /** Runs {@code body} on the channel's event loop, and waits for it. */
  void onLoop(Runnable body) {
    // As a Channel: what a NioSocketChannel returns differs between Netty 4.1 and 4.2.
    Channel plain = channel;
    plain.eventLoop().submit(body).syncUninterruptibly();
  }

  /** Returns a source that has taken the channel over. */
  SocketSource source(ConnectionListener listener) {
    SocketSource source = new SocketSource(channel, listener);
    onLoop(
        () -> {
          channel.pipeline().addLast(source);
          source.takeOver();
        });
    // After what that has left to the loop.
    onLoop(() -> {});
    return source;
  }

  /** Sends bytes to the channel. */
  void send(byte[] bytes) throws IOException {
    ByteBuffer left = ByteBuffer.wrap(bytes);
    while (left.hasRemaining()) {
      peer.write(left);
    }
  }

  /** Ends what is sent to the channel. */
  void end() throws IOException {
    peer.shutdownOutput();
  }

  /** Waits until the channel is closed. */
  void awaitClosed() {
    assertThat(channel.closeFuture().awaitUninterruptibly(60_000)).as("it is closed").isTrue();
  }

  @Override
  public void close() throws IOException {
    channel.close().syncUninterruptibly();
    peer.close();
    assertThat(segments.bytesInUse()).isZero();
    segments.close();
  }
}
