package org.sparkcollectives.engine;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.internal.failure.HeartbeatMonitor;
import org.sparkcollectives.internal.failure.HeartbeatTurn;
import org.sparkcollectives.internal.failure.Watchdog;
import org.sparkcollectives.transport.heap.HeapGroup;
import org.sparkcollectives.transport.tcp.TcpTransport;

/**
 * What all ranks of one JVM share: the listening port, the event loops, the threads, the watchdog.
 *
 * <p>Made when the first group needs it and gone with the last, so that an executor on which no
 * collective runs holds nothing.
 */
public final class CollectiveNode {

  private static final long IDLE_THREAD_SECONDS = 5;
  private static final long CLOSE_SECONDS = 5;
  private static final Logger LOG = LoggerFactory.getLogger(CollectiveNode.class);

  private static final Map<NodeOptions, CollectiveNode> NODES = new HashMap<>();

  private final NodeOptions options;
  private final String id = UUID.randomUUID().toString();
  private final TcpTransport tcp;
  private final ExecutorService executor;
  private final Watchdog watchdog;

  /** Null if the watchdog is not watched. */
  private final HeartbeatMonitor monitor;

  private final Map<String, LocalGroup> groups = new HashMap<>();
  private int users;

  private CollectiveNode(NodeOptions options) {
    this.options = options;
    this.tcp =
        new TcpTransport(
            options.bindHost(),
            options.host(),
            options.port(),
            options.portRetries(),
            options.sockets(),
            options.security(),
            options.connectTimeout());
    // Threads come last: where the port cannot be had, none is left behind.
    this.executor = newExecutor();
    this.watchdog = new Watchdog();
    this.monitor =
        options.watchdogTimeout().isZero()
            ? null
            : new HeartbeatMonitor(watchdog, options.watchdogTimeout());
  }

  /** The JVM's node with these options, made if there is none; to be released once. */
  public static CollectiveNode acquire(NodeOptions options) {
    synchronized (NODES) {
      CollectiveNode node = NODES.computeIfAbsent(options, CollectiveNode::new);
      node.users++;
      return node;
    }
  }

  /** Gives up one use; with the last one the node's threads and sockets end. */
  public void release() {
    synchronized (NODES) {
      users--;
      if (users > 0) {
        return;
      }
      NODES.remove(options);
      // Before anybody can make the next node, which may want the same port.
      tcp.close();
    }
    close();
  }

  private void close() {
    if (monitor != null) {
      monitor.close();
    }
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
    AtomicInteger number = new AtomicInteger();
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        IDLE_THREAD_SECONDS,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        body -> {
          Thread thread = new Thread(body, "collectives-worker-" + number.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        });
  }

  /** Names this JVM among all. */
  public String id() {
    return id;
  }

  /**
   * Runs what no thread of the user runs: collectives that nobody awaits, failures on their way.
   */
  public ExecutorService executor() {
    return executor;
  }

  /** How ranks of other JVMs are reached, and reach ours. */
  public TcpTransport tcp() {
    return tcp;
  }

  /** Who looks after the groups of this JVM. */
  public Watchdog watchdog() {
    return watchdog;
  }

  /** What the ranks of a group in this JVM share; to be left once. */
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

  /** What the ranks of one group in one JVM share. */
  public static final class LocalGroup {
    private final HeapGroup heap = new HeapGroup();
    private final LocalMatchers matchers;
    private final HeartbeatTurn heartbeatTurn = new HeartbeatTurn();
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

    public HeartbeatTurn heartbeatTurn() {
      return heartbeatTurn;
    }
  }
}
