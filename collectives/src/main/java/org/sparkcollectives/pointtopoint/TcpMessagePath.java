package org.sparkcollectives.pointtopoint;

import io.netty.channel.Channel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.tcp.TcpTransport;

/** The way to a rank of another JVM; connects at the first message. */
public final class TcpMessagePath implements MessagePath {

  /** The lane of point-to-point messages. */
  public static final int LANE = 1;

  /** Is told when the path is gone, or cannot be made. Must not block. */
  public interface PathEnd {

    /** The path is gone. */
    void broken(Throwable cause);
  }

  private final Function<TcpTransport.Setup, CompletableFuture<Channel>> connect;
  private final PathEnd pathEnd;
  private TcpMessageSender sender;
  private CompletableFuture<Channel> connecting;
  private final List<Runnable> early = new ArrayList<>();
  private boolean connected;

  /** With what connects to the peer on {@link #LANE}. */
  public TcpMessagePath(
      Function<TcpTransport.Setup, CompletableFuture<Channel>> connect, PathEnd pathEnd) {
    this.connect = connect;
    this.pathEnd = pathEnd;
  }

  @Override
  public void send(HostTensor tensor, int tag, Listener listener) {
    Channel channel;
    synchronized (this) {
      if (connecting == null) {
        begin();
      }
      if (!connected) {
        early.add(() -> sender.offer(tensor, tag, listener));
        return;
      }
      channel = connecting.join();
    }
    channel.eventLoop().execute(() -> sender.offer(tensor, tag, listener));
  }

  /** The connection is there: what was sent before goes first. On the event loop. */
  private synchronized void connected() {
    early.forEach(Runnable::run);
    early.clear();
    connected = true;
  }

  private void begin() {
    sender = new TcpMessageSender(how -> pathEnd.broken(new IOException(how)));
    TcpMessageSender handler = sender;
    connecting =
        connect.apply(
            pipeline -> {
              MessageFrames.addTo(pipeline);
              pipeline.addLast(handler);
            });
    connecting.whenComplete(
        (channel, cause) -> {
          if (cause == null) {
            connected();
          } else {
            pathEnd.broken(cause instanceof CompletionException ? cause.getCause() : cause);
          }
        });
  }

  /** Closes the connection, if there is one. */
  public synchronized void close(boolean inGoodOrder) {
    if (connecting == null || connecting.cancel(false) || connecting.isCompletedExceptionally()) {
      return;
    }
    Channel channel = connecting.join();
    channel
        .eventLoop()
        .execute(
            () -> {
              if (inGoodOrder) {
                sender.end();
              } else {
                channel.close();
              }
            });
  }
}
