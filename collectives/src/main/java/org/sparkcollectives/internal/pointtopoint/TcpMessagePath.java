package org.sparkcollectives.internal.pointtopoint;

import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.tcp.ConnectionKind;
import org.sparkcollectives.internal.transport.tcp.RankConnector;

/** The path to a rank of another JVM; connects at the first message. */
public final class TcpMessagePath implements MessagePath {

  private final RankConnector ranks;
  private final int peer;
  private final ConnectionListener listener;
  private TcpMessageSender sender;
  private CompletableFuture<Channel> connecting;
  private final List<Runnable> early = new ArrayList<>();
  private boolean connected;

  /** Creates the path to a peer. */
  public TcpMessagePath(RankConnector ranks, int peer) {
    this.ranks = ranks;
    this.peer = peer;
    this.listener = ranks.listeners().apply(peer);
  }

  @Override
  public void send(PostedSend message) {
    Channel channel;
    synchronized (this) {
      if (connecting == null) {
        begin();
      }
      if (!connected) {
        early.add(() -> sender.offer(message));
        return;
      }
      channel = connecting.join();
    }
    channel.eventLoop().execute(() -> sender.offer(message));
  }

  /** Sends what was submitted before the connection was made. On the event loop. */
  private synchronized void connected() {
    early.forEach(Runnable::run);
    early.clear();
    connected = true;
  }

  private void begin() {
    sender = new TcpMessageSender(listener);
    TcpMessageSender handler = sender;
    connecting =
        ranks.connect(
            peer,
            ConnectionKind.MESSAGES,
            pipeline -> {
              MessageFrames.addTo(pipeline);
              pipeline.addLast(handler);
            });
    connecting.whenComplete(
        (channel, cause) -> {
          if (cause == null) {
            connected();
          } else {
            listener.broken(cause instanceof CompletionException ? cause.getCause() : cause);
          }
        });
  }

  /** Closes the connection, if there is one, once all messages have gone out. */
  public synchronized void close(long lastCollective) {
    Channel channel = atTheEnd();
    if (channel != null) {
      channel.eventLoop().execute(() -> sender.end(lastCollective));
    }
  }

  /** Closes the connection, if there is one, at once. */
  public synchronized void breakOff() {
    Channel channel = atTheEnd();
    if (channel != null) {
      channel.close();
    }
  }

  private Channel atTheEnd() {
    boolean none =
        connecting == null || connecting.cancel(false) || connecting.isCompletedExceptionally();
    return none ? null : connecting.join();
  }

  /** Returns whether there is no connection. */
  public synchronized boolean isClosed() {
    return connecting == null
        || !connecting.isDone()
        || connecting.isCompletedExceptionally()
        || !connecting.join().isOpen();
  }
}
