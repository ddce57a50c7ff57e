package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.shm.Doorbell;
import org.sparkcollectives.internal.transport.shm.RingSink;
import org.sparkcollectives.internal.transport.shm.SharedFolder;
import org.sparkcollectives.internal.transport.shm.SharedRing;

/**
 * Connects to a peer to send to it: through shared memory if both can, else over TCP.
 *
 * @param ranks makes the connections
 * @param kind what they carry over TCP
 * @param sharedMemory where memory for ranks of this host is made; null if they may not share it
 * @param bell wakes the thread that sends
 * @param hasLogged whether the log says already that no memory can be made
 */
record Dialer(
    RankConnector ranks,
    ConnectionKind kind,
    SharedFolder sharedMemory,
    Doorbell bell,
    AtomicBoolean hasLogged) {

  Dialer(RankConnector ranks, ConnectionKind kind, SharedFolder sharedMemory, Doorbell bell) {
    this(ranks, kind, sharedMemory, bell, new AtomicBoolean());
  }

  /** One connection that is to be made. */
  private record Call(int peer, PairConnection<ByteSink> out, ReturnPath back, Runnable signal) {}

  /**
   * Begins to make {@code out}; does not block. When that is closed meanwhile, nothing is left of
   * it.
   *
   * @param listener hears of the connection's end
   * @param signal wakes the thread that sends, when the connection is there or could not be made
   */
  void dial(int peer, PairConnection<ByteSink> out, ConnectionListener listener, Runnable signal) {
    Call call = new Call(peer, out, new ReturnPath(listener), signal);
    boolean neighbour = sharedMemory != null && ranks.sharesMemoryWith(peer);
    SharedRing ring = neighbour ? RingOffer.prepare(sharedMemory, hasLogged) : null;
    if (ring == null) {
      overTcp(call);
    } else {
      offer(call, ring);
    }
  }

  private void overTcp(Call call) {
    CompletableFuture<ByteSink> sink = new CompletableFuture<>();
    connect(
            call,
            kind,
            pipeline -> {
              pipeline.addLast(call.back);
              makeSink((DirectSocketChannel) pipeline.channel(), sink);
            })
        .thenCompose(channel -> sink.thenAccept(made -> call.out.opened(channel, made)))
        .whenComplete(
            (opened, cause) -> {
              if (cause != null) {
                call.out.failed(failure(call.peer, cause));
              }
              call.signal.run();
            });
  }

  /** Makes what writes to a channel; on its event loop, from one of its handlers. */
  private static void makeSink(DirectSocketChannel channel, CompletableFuture<ByteSink> sink) {
    SslHandler handshake = channel.pipeline().get(SslHandler.class);
    if (handshake == null) {
      sink.complete(new SocketSink(channel, null));
      return;
    }
    // As a Channel: what a NioSocketChannel returns differs between Netty 4.1 and 4.2.
    Channel plain = channel;
    // That handler is at work.
    plain
        .eventLoop()
        .execute(
            () -> {
              try {
                TlsRecords tls = TlsRecords.takeOver(channel, handshake, false);
                sink.complete(new SocketSink(channel, tls));
              } catch (IOException e) {
                sink.completeExceptionally(e);
              }
            });
  }

  private void offer(Call call, SharedRing ring) {
    CompletableFuture<RingOffer> made = new CompletableFuture<>();
    connect(
            call,
            ConnectionKind.RING_OFFER,
            pipeline -> made.complete(RingOffer.make(pipeline.channel(), ring, call.back)))
        .thenCompose(channel -> made.join().answer().thenApply(taken -> taken ? channel : null))
        .whenComplete(
            (channel, cause) -> {
              if (channel != null) {
                call.out.opened(channel, new RingSink(ring, bell));
              } else {
                ring.close();
                if (cause != null) {
                  call.out.failed(failure(call.peer, cause));
                } else if (call.out.state() == PairConnection.State.OPENING) {
                  overTcp(call);
                }
              }
              call.signal.run();
            });
  }

  private CompletableFuture<Channel> connect(Call call, ConnectionKind of, Connector.Setup setup) {
    CompletableFuture<Channel> connecting = ranks.connect(call.peer, of, setup);
    call.out.attempt(
        () -> {
          if (!connecting.cancel(false)) {
            connecting.thenAccept(Channel::close);
          }
        });
    return connecting;
  }

  private RuntimeException failure(int peer, Throwable cause) {
    Throwable first = cause instanceof CompletionException ? cause.getCause() : cause;
    return first instanceof TransportException failure && failure.peer() >= 0
        ? failure
        : ranks.lost(peer, first, first);
  }
}
