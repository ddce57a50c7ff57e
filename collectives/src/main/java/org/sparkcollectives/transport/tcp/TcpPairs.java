package org.sparkcollectives.transport.tcp;

import io.netty.channel.Channel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.store.net.ConnectionId;
import org.sparkcollectives.transport.ConnectionListener;
import org.sparkcollectives.transport.Endpoint;
import org.sparkcollectives.transport.OperationHeader;
import org.sparkcollectives.transport.Pair;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.transport.shm.SharedFile;
import org.sparkcollectives.transport.shm.SharedRing;

/** The paths of one rank to the ranks of its group in other JVMs, for the group's collectives. */
public final class TcpPairs {

  /** The lane of the collectives. */
  private static final int LANE = 0;

  /** The lane of the second stripe, after which the others follow. */
  private static final int FIRST_FURTHER_LANE = 3;

  private final TcpTransport transport;
  private final String group;
  private final int rank;
  private final int lane;
  private final byte[] secret;
  private final IntFunction<Endpoint> endpoints;
  private final Supplier<OperationHeader> current;
  private final IntFunction<ConnectionListener> listeners;
  private final Progress progress;

  /** Made when the first of the two needs it: of a thousand peers a rank meets ten. */
  private final AtomicReferenceArray<TcpPair> pairs;

  private final List<TcpPair> made = new CopyOnWriteArrayList<>();
  private final SocketWait wait;
  private final Path sharedMemory;
  private volatile boolean closed;

  /**
   * Of a rank that can be connected to from now on, as far as the caller routes the connections of
   * this {@link #stripe} to {@link #accepted}.
   *
   * @param stripe tells apart those that carry parts of one operation; 0 for the only one
   * @param endpoints where each rank is
   * @param progress where this rank waits, shared with its other paths
   * @param wait where this rank's thread sleeps
   * @param sharedMemory a folder in memory, through which ranks of this host may share memory; null
   *     if they may not
   * @param current the operation that this rank is in
   * @param listeners hear, each for one peer, how a connection to it ends
   */
  public TcpPairs(
      TcpTransport transport,
      String group,
      int rank,
      int size,
      int stripe,
      byte[] secret,
      IntFunction<Endpoint> endpoints,
      Progress progress,
      SocketWait wait,
      Path sharedMemory,
      Supplier<OperationHeader> current,
      IntFunction<ConnectionListener> listeners) {
    this.transport = transport;
    this.group = group;
    this.rank = rank;
    this.lane = stripe == 0 ? LANE : FIRST_FURTHER_LANE + stripe - 1;
    this.secret = secret.clone();
    this.endpoints = endpoints;
    this.wait = wait;
    this.sharedMemory = sharedMemory;
    this.current = current;
    this.listeners = listeners;
    this.progress = progress;
    this.pairs = new AtomicReferenceArray<>(size);
  }

  private TcpPair made(int peer) {
    TcpPair pair = pairs.get(peer);
    if (pair != null) {
      return pair;
    }
    TcpPair first = new TcpPair(this, peer, progress);
    if (pairs.compareAndSet(peer, null, first)) {
      made.add(first);
      return first;
    }
    return pairs.get(peer);
  }

  /** The path to a rank of another JVM. */
  public Pair pair(int peer) {
    return made(peer);
  }

  /** A peer has connected. Called on the connection's event loop. */
  public void accepted(ConnectionId id, Channel channel) {
    if (id.from() < 0 || id.from() >= pairs.length()) {
      channel.close();
      return;
    }
    TcpPair pair = made(id.from());
    if (closed) {
      // Whoever closes the pairs may have looked before this one was there.
      channel.close();
      return;
    }
    if (id.lane() == lane) {
      pair.accepted(channel);
    } else {
      channel
          .pipeline()
          .addLast(
              new RingOffer.Taker(ring -> pair.accepted(channel, ring), listenerOf(id.from())));
    }
  }

  /** For {@link #accepted} of which stripe connections of this lane are; -1 for none. */
  public static int stripe(int lane) {
    if (lane == LANE || lane == RingOffer.LANE) {
      return 0;
    }
    return lane >= FIRST_FURTHER_LANE ? lane - FIRST_FURTHER_LANE + 1 : -1;
  }

  /** Frees the memory of all paths; when no thread can touch it any more. */
  public void free() {
    for (TcpPair pair : made) {
      pair.free();
    }
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

  /**
   * A way out.
   *
   * @param channel the connection, also where the bytes go another way
   * @param sink where the bytes go
   */
  record Route(Channel channel, ByteSink sink) {}

  /** Makes a way to a peer: through shared memory if both can, else over TCP. */
  CompletableFuture<Route> connect(int peer, ReturnPath returnPath, Runnable onProgress) {
    boolean neighbour =
        sharedMemory != null && endpoints.apply(rank).sharesHostWith(endpoints.apply(peer));
    SharedFile file = neighbour ? RingOffer.prepare(sharedMemory) : null;
    return file == null
        ? overTcp(peer, returnPath, onProgress)
        : offer(peer, file, returnPath, onProgress);
  }

  /** Gives up the connection when nobody wants the way any more. */
  private static CompletableFuture<Route> endingWith(
      CompletableFuture<Route> way, CompletableFuture<Channel> connecting) {
    way.whenComplete(
        (route, cause) -> {
          if (way.isCancelled() && !connecting.cancel(false)) {
            connecting.thenAccept(Channel::close);
          }
        });
    return way;
  }

  private CompletableFuture<Route> overTcp(int peer, ReturnPath returnPath, Runnable onProgress) {
    CompletableFuture<Channel> connecting =
        transport.connect(
            endpoints.apply(peer),
            new ConnectionId(group, rank, peer, lane),
            secret,
            pipeline -> pipeline.addLast(returnPath));
    return endingWith(
        connecting.thenApply(channel -> new Route(channel, sinkInto(channel, onProgress))),
        connecting);
  }

  private static ByteSink sinkInto(Channel channel, Runnable onProgress) {
    return channel instanceof DirectSocketChannel direct
        ? new SocketSink(direct.directSocket(), channel.alloc())
        : new NettySink(channel, onProgress);
  }

  private CompletableFuture<Route> offer(
      int peer, SharedFile file, ReturnPath returnPath, Runnable onProgress) {
    CompletableFuture<RingOffer> made = new CompletableFuture<>();
    CompletableFuture<Channel> connecting =
        transport.connect(
            endpoints.apply(peer),
            new ConnectionId(group, rank, peer, RingOffer.LANE),
            secret,
            pipeline -> made.complete(RingOffer.make(pipeline.channel(), file, returnPath)));
    CompletableFuture<Boolean> answered =
        connecting
            .thenCompose(channel -> made.join().answer())
            .handle((taken, cause) -> answered(peer, file, taken, cause));
    CompletableFuture<Route> way =
        OfferedWay.of(
            answered,
            () -> inMemory(connecting.join(), file),
            () -> overTcp(peer, returnPath, onProgress));
    return endingWith(way, connecting);
  }

  /** Whether the peer has taken the memory; else it is let go of. */
  private boolean answered(int peer, SharedFile file, Boolean taken, Throwable cause) {
    if (cause == null && taken) {
      return true;
    }
    file.close();
    if (cause != null) {
      Throwable first = cause instanceof CompletionException ? cause.getCause() : cause;
      throw first instanceof TransportException failure && failure.peer() >= 0
          ? failure
          : new TransportException(
              "rank "
                  + rank
                  + " lost its path to "
                  + endpoints.apply(peer).describe()
                  + ": "
                  + first.getMessage(),
              peer,
              addressOf(peer),
              first);
    }
    return false;
  }

  private Route inMemory(Channel channel, SharedFile file) {
    return new Route(
        channel, new RingSink(new SharedRing(file, ByteSink.SEGMENT_BYTES), wait.bell()));
  }

  /** The connection that was made, or why there is none. */
  Route connected(CompletableFuture<Route> connecting) {
    try {
      return connecting.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof TransportException failure) {
        throw failure;
      }
      throw e;
    }
  }

  private String addressOf(int peer) {
    return endpoints.apply(peer).host() + ":" + endpoints.apply(peer).port();
  }

  private TransportException lost(int peer, Throwable cause) {
    return new TransportException(
        "rank "
            + rank
            + " lost its path to "
            + endpoints.apply(peer).describe()
            + ": "
            + cause.getMessage(),
        peer,
        addressOf(peer),
        null);
  }

  /** Reports that this rank has refused a message of a peer. */
  void refused(int peer, CollectiveMismatchException why) {
    listenerOf(peer).refused(why);
  }

  /** Returns what hears of the connections from and to a peer. */
  ConnectionListener listenerOf(int peer) {
    return new ConnectionListener() {
      @Override
      public void received() {
        made(peer).signal();
      }

      @Override
      public void finished(long lastCollective) {
        if (!closed) {
          listeners.apply(peer).finished(lastCollective);
        }
      }

      @Override
      public void refused(CollectiveMismatchException why) {
        if (!closed) {
          listeners.apply(peer).refused(why);
        }
      }

      @Override
      public void broken(Throwable cause) {
        if (!closed) {
          listeners.apply(peer).broken(lost(peer, cause));
        }
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
    for (TcpPair pair : made) {
      pair.close(lastCollective);
    }
  }

  /** Breaks all paths at once, what was sent over them may be lost. */
  public void breakOff() {
    closed = true;
    for (TcpPair pair : made) {
      pair.breakOff();
    }
  }

  /** Whether no connection is left. */
  public boolean isClosed() {
    for (TcpPair pair : made) {
      if (!pair.isClosed()) {
        return false;
      }
    }
    return true;
  }
}
