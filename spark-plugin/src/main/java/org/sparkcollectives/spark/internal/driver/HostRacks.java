package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The racks of the application's hosts, each of which is found once. After the first failure, which
 * is logged, all are unknown until the application ends: half a topology would be worse than none.
 *
 * <p>Thread-safe.
 */
final class HostRacks {

  /** The most hosts that are asked for at once, as Hadoop has it. */
  private static final int MOST_AT_ONCE = 100;

  private static final String UNKNOWN = "";

  /** How long a host's rack may take to be found: less than a rank waits for it. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static final Logger LOG = LoggerFactory.getLogger(HostRacks.class);

  /** Finds the racks of hosts. */
  @FunctionalInterface
  interface Topology {

    /**
     * Returns the rack of each host; empty where it is unknown. May block for seconds.
     *
     * @throws TopologyException with what is wrong and what is expected
     */
    List<String> racks(List<String> hosts) throws TopologyException, InterruptedException;
  }

  /** Racks that cannot be found. */
  static final class TopologyException extends Exception {
    private static final long serialVersionUID = 1;

    TopologyException(String message) {
      super(message);
    }
  }

  private final Topology topology;
  private final Executor executor;
  private final Executor timer;
  private final Map<String, CompletableFuture<String>> racks = new HashMap<>();
  private final Queue<String> waiting = new ArrayDeque<>();
  private boolean running;
  private boolean failed;

  /**
   * Creates the racks of hosts, none of which is known yet.
   *
   * @param executor runs what asks the topology, one at a time
   */
  HostRacks(Topology topology, Executor executor) {
    this(
        topology,
        executor,
        CompletableFuture.delayedExecutor(LIMIT.toSeconds(), TimeUnit.SECONDS, Runnable::run));
  }

  /**
   * Creates the racks of hosts as a test needs them.
   *
   * @param timer runs what is to be done when the topology should have answered
   */
  HostRacks(Topology topology, Executor executor, Executor timer) {
    this.timer = timer;
    this.topology = topology;
    this.executor = executor;
  }

  /** Returns the rack of a host, once it is known; empty if it never is. Does not block. */
  synchronized CompletableFuture<String> of(String host) {
    if (failed) {
      return CompletableFuture.completedFuture(UNKNOWN);
    }
    CompletableFuture<String> known = racks.get(host);
    if (known != null) {
      return known;
    }
    CompletableFuture<String> rack = new CompletableFuture<>();
    racks.put(host, rack);
    waiting.add(host);
    timer.execute(
        () -> {
          if (!rack.isDone()) {
            fail("that of " + host + " was not told in time");
          }
        });
    if (!running) {
      running = true;
      executor.execute(this::find);
    }
    return rack;
  }

  /** Finds the racks of all hosts that wait for it: more come meanwhile, which go together. */
  private void find() {
    for (List<String> hosts = next(); !hosts.isEmpty(); hosts = next()) {
      List<String> found;
      try {
        found = topology.racks(hosts);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        fail("the application ends");
        return;
      } catch (TopologyException e) {
        fail(e.getMessage());
        return;
      } catch (RuntimeException | LinkageError e) {
        fail(e.toString());
        return;
      }
      if (found.size() != hosts.size()) {
        fail(found.size() + " racks were told for " + hosts.size() + " hosts");
        return;
      }
      for (int i = 0; i < hosts.size(); i++) {
        rackOf(hosts.get(i)).complete(found.get(i));
      }
    }
  }

  private synchronized CompletableFuture<String> rackOf(String host) {
    return racks.get(host);
  }

  private synchronized List<String> next() {
    List<String> next = new ArrayList<>();
    while (next.size() < MOST_AT_ONCE && !waiting.isEmpty()) {
      next.add(waiting.remove());
    }
    running = !next.isEmpty();
    return next;
  }

  private void fail(String why) {
    List<CompletableFuture<String>> all;
    synchronized (this) {
      if (failed) {
        return;
      }
      failed = true;
      all = List.copyOf(racks.values());
    }
    LOG.warn(
        "The racks of hosts are not known, so groups take all hosts for equally far apart until the"
            + " application ends: {}",
        why);
    all.forEach(each -> each.complete(UNKNOWN));
  }
}
