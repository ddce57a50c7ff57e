package org.sparkcollectives.store;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.sparkcollectives.config.TimeString;
import org.sparkcollectives.net.ClientHandshake;
import org.sparkcollectives.net.DescriptorShortage;
import org.sparkcollectives.net.DescriptorsExhaustedException;
import org.sparkcollectives.net.EventLoops;
import org.sparkcollectives.net.HandshakeException;
import org.sparkcollectives.net.TransportSecurity;

/** A handle on a store that another process serves, over one connection. */
final class TcpStoreClient extends RemoteStore {

  private static final long FIRST_BACKOFF_MILLIS = 10;
  private static final long LAST_BACKOFF_MILLIS = 1000;

  private final String address;
  private final Channel channel;
  private final Map<Long, CompletableFuture<byte[]>> asked = new ConcurrentHashMap<>();

  /** Why the connection ended, if this side knows. */
  private volatile Throwable cause;

  private volatile boolean lost;

  private TcpStoreClient(String address, Channel channel, Duration timeout) {
    super("TcpStore at " + address, timeout);
    this.address = address;
    this.channel = channel;
  }

  static TcpStoreClient connect(
      String host, int port, byte[] secret, TransportSecurity security, Duration timeout) {
    String address = host + ":" + port;
    Deadline deadline = Deadline.after(timeout);
    long backoff = FIRST_BACKOFF_MILLIS;
    DescriptorShortage shortage = new DescriptorShortage(DescriptorShortage.PATIENCE);
    EventLoops loops = acquireLoop(address);
    try {
      while (true) {
        Attempt attempt = new Attempt(loops, host, port, secret, security, deadline.left());
        try {
          Channel channel = attempt.await(deadline);
          return new TcpStoreClient(address, channel, timeout).begin();
        } catch (ExecutionException | TimeoutException e) {
          Throwable cause = e instanceof ExecutionException ? e.getCause() : silent(e);
          boolean hopeless =
              (cause instanceof HandshakeException refusal && !refusal.isWorthARetry())
                  || shortage.failed(cause).isPresent();
          if (hopeless || deadline.isOver()) {
            Duration rounded = Duration.ofMillis(timeout.plusNanos(500_000).toMillis());
            throw unreachable(
                address, hopeless ? "" : " within " + TimeString.format(rounded), cause);
          }
          // Jitter keeps a thousand ranks that start at once from retrying in step.
          long pause = ThreadLocalRandom.current().nextLong(backoff / 2, backoff);
          TimeUnit.MILLISECONDS.sleep(Math.min(pause, deadline.left().toMillis()));
          backoff = Math.min(LAST_BACKOFF_MILLIS, backoff * 2);
        }
      }
    } catch (InterruptedException e) {
      SharedEventLoop.release();
      Thread.currentThread().interrupt();
      throw new StoreConnectionException("Interrupted while connecting to " + address, e);
    } catch (RuntimeException e) {
      SharedEventLoop.release();
      throw e;
    }
  }

  private static EventLoops acquireLoop(String address) {
    try {
      return SharedEventLoop.acquire();
    } catch (DescriptorsExhaustedException e) {
      throw unreachable(address, "", e);
    }
  }

  private static IOException silent(Exception timeout) {
    return new IOException("it did not answer", timeout);
  }

  private static StoreConnectionException unreachable(
      String address, String when, Throwable cause) {
    return new StoreConnectionException(
        "Could not connect to the store at "
            + address
            + when
            + ": "
            + DescriptorsExhaustedException.explain(cause).getMessage(),
        cause);
  }

  /** One attempt to connect and shake hands. */
  private static final class Attempt {
    private final CompletableFuture<Channel> ready = new CompletableFuture<>();
    private final ChannelFuture connecting;

    Attempt(
        EventLoops loops,
        String host,
        int port,
        byte[] secret,
        TransportSecurity security,
        Duration timeout) {
      String literal = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
      int millis = (int) Math.min(Integer.MAX_VALUE, Math.max(1, timeout.toMillis()));
      connecting =
          new Bootstrap()
              .group(loops.group())
              .channel(loops.channelType())
              .option(ChannelOption.TCP_NODELAY, true)
              // Keep-alive detects, in the end, a server host that disappears without closing.
              .option(ChannelOption.SO_KEEPALIVE, true)
              .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis)
              .handler(
                  new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                      ClientHandshake.addTo(
                          channel.pipeline(),
                          StoreFrames.CONNECTION,
                          secret,
                          security,
                          timeout,
                          ready);
                    }
                  })
              .connect(new InetSocketAddress(literal, port));
      connecting.addListener(
          result -> {
            if (!result.isSuccess()) {
              ready.completeExceptionally(result.cause());
            }
          });
    }

    Channel await(Deadline deadline)
        throws InterruptedException, ExecutionException, TimeoutException {
      try {
        return ready.get(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException | TimeoutException e) {
        connecting.channel().close();
        throw e;
      }
    }
  }

  private TcpStoreClient begin() {
    // This is early enough: a server sends nothing before it is asked.
    StoreFrames.addTo(channel.pipeline());
    channel.pipeline().addLast(new Replies());
    channel.closeFuture().addListener(closed -> lose());
    return this;
  }

  @Override
  protected CompletableFuture<byte[]> ask(byte[] request) {
    CompletableFuture<byte[]> reply = new CompletableFuture<>();
    long id = StoreCodec.id(ByteBuffer.wrap(request));
    asked.put(id, reply);
    if (lost) {
      lose();
      return reply;
    }
    channel
        .writeAndFlush(new MessageChunks(StoreMessage.of(request)))
        .addListener(
            sent -> {
              if (!sent.isSuccess()) {
                lose(sent.cause());
              }
            });
    return reply;
  }

  /** Ends the connection, which can no longer be used. */
  private void lose(Throwable why) {
    if (cause == null) {
      cause = why;
    }
    channel.close();
    lose();
  }

  private void lose() {
    lost = true;
    for (Long id : List.copyOf(asked.keySet())) {
      CompletableFuture<byte[]> reply = asked.remove(id);
      if (reply != null) {
        reply.completeExceptionally(lost());
      }
    }
  }

  private StoreConnectionException lost() {
    Throwable why = cause;
    String connection = "The connection to the store at " + address + " was lost";
    return why == null || why instanceof ClosedChannelException
        ? new StoreConnectionException(
            connection
                + "; its process has closed it, or is gone. The log of that process says why")
        : new StoreConnectionException(connection + ": " + why, why);
  }

  @Override
  protected void disconnect() {
    channel.close();
    SharedEventLoop.release();
  }

  /** Brings each reply to the call that asked. */
  private final class Replies extends SimpleChannelInboundHandler<ByteBuf> {

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      CompletableFuture<byte[]> reply = asked.remove(StoreCodec.id(frame.nioBuffer()));
      if (reply == null) {
        return;
      }
      try {
        byte[] bytes = new byte[frame.readableBytes()];
        frame.readBytes(bytes);
        reply.complete(bytes);
      } catch (OutOfMemoryError e) {
        reply.completeExceptionally(
            new StoreException(
                "No memory for the reply of "
                    + frame.readableBytes()
                    + " bytes of the store at "
                    + address
                    + ": "
                    + e.getMessage(),
                e));
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable why) {
      lose(why);
    }
  }
}
