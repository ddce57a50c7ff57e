package org.sparkcollectives.transport.tcp;

import io.netty.channel.Channel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.store.net.ConnectionId;
import org.sparkcollectives.transport.Endpoint;
import org.sparkcollectives.transport.OperationHeader;
import org.sparkcollectives.transport.Pair;
import org.sparkcollectives.transport.PathListener;
import org.sparkcollectives.transport.Progress;

/** The paths of one rank to the ranks of its group in other JVMs, for the group's collectives. */
public final class TcpPairs {

  /** The lane of the collectives. */
  public static final int LANE = 0;

  private final TcpTransport transport;
  private final String group;
  private final int rank;
  private final byte[] secret;
  private final IntFunction<Endpoint> endpoints;
  private final Supplier<OperationHeader> current;
  private final PathListener listener;
  private final TcpPair[] pairs;
  private final SocketWait wait;
  private volatile boolean closed;

  /**
   * Of a rank that can be connected to from now on, as far as the caller routes connections of
   * {@link #LANE} to {@link #accepted}.
   *
   * @param endpoints where each rank is
   * @param progress where this rank waits, shared with its other paths
   * @param wait where this rank's thread sleeps
   * @param current the operation that this rank is in
   * @param listener is told when a path ends
   */
  public TcpPairs(
      TcpTransport transport,
      String group,
      int rank,
      int size,
      byte[] secret,
      IntFunction<Endpoint> endpoints,
      Progress progress,
      SocketWait wait,
      Supplier<OperationHeader> current,
      PathListener listener) {
    this.transport = transport;
    this.group = group;
    this.rank = rank;
    this.secret = secret.clone();
    this.endpoints = endpoints;
    this.wait = wait;
    this.current = current;
    this.listener = listener;
    this.pairs = new TcpPair[size];
    for (int peer = 0; peer < size; peer++) {
      pairs[peer] = new TcpPair(this, peer, progress);
    }
  }

  /** The path to a rank of another JVM. */
  public Pair pair(int peer) {
    return pairs[peer];
  }

  /** A peer has connected. Called on the connection's event loop. */
  public void accepted(ConnectionId id, Channel channel) {
    if (id.from() < 0 || id.from() >= pairs.length) {
      channel.close();
      return;
    }
    pairs[id.from()].accepted(channel);
  }

  int rank() {
    return rank;
  }

  SocketWait socketWait() {
    return wait;
  }

  OperationHeader current() {
    return current.get();
  }

  CompletableFuture<Channel> connect(int peer, TcpTransport.Setup setup) {
    return transport.connect(
        endpoints.apply(peer), new ConnectionId(group, rank, peer, LANE), secret, setup);
  }

  /** The connection that was made, or why there is none. */
  Channel connected(CompletableFuture<Channel> connecting) {
    try {
      return connecting.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof TransportException failure) {
        throw failure;
      }
      throw e;
    }
  }

  private void broken(int peer, String how) {
    if (!closed) {
      listener.broken(
          peer,
          new TransportException(
              "rank " + rank + " lost its path to " + endpoints.apply(peer).describe() + ": " + how,
              peer,
              null));
    }
  }

  private void finished(int peer, long lastCollective) {
    if (!closed) {
      listener.finished(peer, lastCollective);
    }
  }

  ArrivalListener arrivalsOf(int peer) {
    return new ArrivalListener() {
      @Override
      public void received() {
        pairs[peer].signal();
      }

      @Override
      public void finished(long lastCollective) {
        TcpPairs.this.finished(peer, lastCollective);
      }

      @Override
      public void broken(String how) {
        TcpPairs.this.broken(peer, how);
      }
    };
  }

  ReturnPath.Listener returnsOf(int peer) {
    return new ReturnPath.Listener() {
      @Override
      public void finished(long lastCollective) {
        TcpPairs.this.finished(peer, lastCollective);
      }

      @Override
      public void refused(String why) {
        if (!closed) {
          listener.refused(peer, new CollectiveMismatchException(why));
        }
      }

      @Override
      public void broken(String how) {
        TcpPairs.this.broken(peer, how);
      }
    };
  }

  /**
   * Closes all paths once what was sent over them has gone out; does not wait for that, see {@link
   * #isClosed}.
   *
   * @param lastCollective the number of this rank's last collective, -1 for none
   */
  public void close(long lastCollective) {
    closed = true;
    for (TcpPair pair : pairs) {
      pair.close(lastCollective);
    }
  }

  /** Breaks all paths at once, what was sent over them may be lost. */
  public void breakOff() {
    closed = true;
    for (TcpPair pair : pairs) {
      pair.breakOff();
    }
  }

  /** Whether no connection is left. */
  public boolean isClosed() {
    for (TcpPair pair : pairs) {
      if (!pair.isClosed()) {
        return false;
      }
    }
    return true;
  }
}
