package org.sparkcollectives.internal.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.internal.liveness.HeartbeatElection;
import org.sparkcollectives.internal.liveness.Watchdog;
import org.sparkcollectives.internal.liveness.WatchdogGuard;
import org.sparkcollectives.internal.transport.heap.HeapGroup;
import org.sparkcollectives.internal.transport.tcp.TcpTransport;
import org.sparkcollectives.net.LibraryThreads;

/**
 * The resources that all ranks of one JVM share: the listening port, the event loops, the threads,
 * the watchdog.
 *
 * <p>It is made when the first group needs it and closed with the last, so that an executor on
 * which no collective runs holds nothing.
 */
public final class CollectiveNode {

  private static final long IDLE_THREAD_SECONDS = 5;
  private static final long CLOSE_SECONDS = 5;
  private static final Logger LOG = LoggerFactory.getLogger(CollectiveNode.class);

  private static final Map<NodeOptions, CollectiveNode> NODES = new HashMap<>();

  /** How long the watchdog may be stuck before the groups of the JVM fail. */
  private static final Duration STUCK = Duration.ofMinutes(1);

  private final NodeOptions options;
  private final String id = UUID.randomUUID().toString();
  private final TcpTransport tcp;
  private final ExecutorService executor;
  private final Watchdog watchdog;

  /** Null if the watchdog is not watched. */
  private final WatchdogGuard guard;

  private final Map<String, LocalGroup> groups = new HashMap<>();
  private int users;

  private CollectiveNode(NodeOptions options) {
    this.options = options;
    this.tcp =
        new TcpTransport(
            options.address(), options.sockets(), options.security(), options.connectTimeout());
    // Threads are created last: if the port is not available, none is left behind.
    this.executor = newExecutor();
    this.watchdog = new Watchdog();
    this.guard = new WatchdogGuard(watchdog, STUCK);
  }

  /**
   * Returns the JVM's node with these options, and creates it if there is none. Must be released
   * once.
   */
  public static CollectiveNode acquire(NodeOptions options) {
    synchronized (NODES) {
      CollectiveNode node = NODES.computeIfAbsent(options, CollectiveNode::new);
      node.users++;
      return node;
    }
  }

  /** Ends one use; the last one ends the node's threads and sockets. */
  public void release() {
    synchronized (NODES) {
      users--;
      if (users > 0) {
        return;
      }
      NODES.remove(options);
      // This comes before the next node can be made, which may want the same port.
      tcp.close();
    }
    close();
  }

  private void close() {
    guard.close();
    watchdog.close();
    executor.shutdown();
    try {
      if (!executor.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("Threads of closed groups are still running after {} s", CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static ExecutorService newExecutor() {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        IDLE_THREAD_SECONDS,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        LibraryThreads.numbered("collectives-worker"));
  }

  /** Returns the name of this JVM among all. */
  public String id() {
    return id;
  }

  /**
   * Returns the executor for what no thread of the user runs: collectives that no thread awaits,
   * and the publishing of failures.
   */
  public ExecutorService executor() {
    return executor;
  }

  /** Returns the transport that connects to ranks of other JVMs, and accepts their connections. */
  public TcpTransport tcp() {
    return tcp;
  }

  /** Returns the watchdog of this JVM's groups. */
  public Watchdog watchdog() {
    return watchdog;
  }

  /** Returns what the ranks of a group in this JVM share; must be left once. */
  public synchronized LocalGroup join(String group, int size) {
    LocalGroup local = groups.computeIfAbsent(group, name -> new LocalGroup(size));
    local.members++;
    return local;
  }

  /** Undoes a {@link #join}. */
  public synchronized void leave(String group) {
    LocalGroup local = groups.get(group);
    local.members--;
    if (local.members == 0) {
      groups.remove(group);
    }
  }

  /** The resources that the ranks of one group in one JVM share. */
  public static final class LocalGroup {
    private final HeapGroup heap = new HeapGroup();
    private final LocalMatchers matchers;
    private final HeartbeatElection heartbeatElection = new HeartbeatElection();
    private int members;

    private LocalGroup(int size) {
      this.matchers = new LocalMatchers(size);
    }

    public HeapGroup heap() {
      return heap;
    }

    public LocalMatchers matchers() {
      return matchers;
    }

    public HeartbeatElection heartbeatElection() {
      return heartbeatElection;
    }
  }
}
