package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.Channel;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.shm.SharedFolder;

/** The paths of one rank to the ranks of its group in other JVMs, for the group's collectives. */
public final class StreamPairs {

  private final RankConnector ranks;
  private final Dialer dialer;
  private final Progress progress;
  private final SocketWait wait;
  private final Supplier<OperationHeader> current;

  /** Made when the first of the two needs it: of a thousand peers a rank meets ten. */
  private final AtomicReferenceArray<StreamPair> pairs;

  private final List<StreamPair> made = new CopyOnWriteArrayList<>();
  private volatile boolean closed;

  /**
   * Creates the paths of a rank that can be connected to from now on, as far as the caller routes
   * the connections to {@link #accepted}.
   *
   * @param stripe tells apart those that carry parts of one operation; 0 for the only one
   * @param progress where this rank waits, shared with its other paths
   * @param wait where this rank's thread sleeps
   * @param sharedMemory where memory for ranks of this host is made; null if they may not share it
   * @param current the operation that this rank is in
   */
  public StreamPairs(
      RankConnector ranks,
      int stripe,
      Progress progress,
      SocketWait wait,
      SharedFolder sharedMemory,
      Supplier<OperationHeader> current) {
    this.ranks = ranks;
    this.dialer = new Dialer(ranks, ConnectionKind.collectives(stripe), sharedMemory, wait.bell());
    this.progress = progress;
    this.wait = wait;
    this.current = current;
    this.pairs = new AtomicReferenceArray<>(ranks.endpoints().size());
  }

  private StreamPair made(int peer) {
    StreamPair pair = pairs.get(peer);
    return pair == null ? make(peer) : pair;
  }

  private synchronized StreamPair make(int peer) {
    StreamPair pair = pairs.get(peer);
    if (pair == null) {
      pair = new StreamPair(this, peer, progress);
      if (closed) {
        pair.breakOff();
      }
      pairs.set(peer, pair);
      made.add(pair);
    }
    return pair;
  }

  /** Returns the path to a rank of another JVM. */
  public Pair pair(int peer) {
    return made(peer);
  }

  /** Accepts a connection that a peer has made. Called on the connection's event loop. */
  public void accepted(int peer, ConnectionKind kind, Channel channel) {
    StreamPair pair = made(peer);
    if (kind.use() == ConnectionKind.Use.RING_OFFER) {
      pair.offered(channel);
    } else {
      pair.accepted((DirectSocketChannel) channel);
    }
  }

  /** Frees the memory of all paths; when no thread can touch it any more. */
  public void free() {
    made.forEach(StreamPair::free);
  }

  int rank() {
    return ranks.rank();
  }

  SocketWait socketWait() {
    return wait;
  }

  /** Returns what runs code that logs something of shared memory. */
  Consumer<Runnable> logging() {
    SharedFolder sharedMemory = dialer.sharedMemory();
    return sharedMemory == null ? Runnable::run : sharedMemory.logging();
  }

  OperationHeader current() {
    return current.get();
  }

  /** Begins to connect to a peer, see {@link Dialer#dial}. */
  void dial(int peer, PairConnection<ByteSink> out) {
    dialer.dial(peer, out, listenerOf(peer), progress::signal);
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
        progress.signal();
      }

      @Override
      public void finished(long lastCollective) {
        if (!closed) {
          ranks.listeners().apply(peer).finished(lastCollective);
        }
      }

      @Override
      public void refused(CollectiveMismatchException why) {
        if (!closed) {
          ranks.listeners().apply(peer).refused(why);
        }
      }

      @Override
      public void broken(Throwable cause) {
        if (!closed) {
          ranks.listeners().apply(peer).broken(ranks.lost(peer, cause, cause));
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
  public synchronized void close(long lastCollective) {
    closed = true;
    made.forEach(pair -> pair.close(lastCollective));
  }

  /** Breaks all paths at once; what was sent over them may be lost. */
  public synchronized void breakOff() {
    closed = true;
    made.forEach(StreamPair::breakOff);
  }

  /** Returns whether no connection is left. */
  public boolean isClosed() {
    return made.stream().allMatch(StreamPair::isClosed);
  }
}
