package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
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
        fail();
        return;
      } catch (TopologyException | RuntimeException e) {
        LOG.warn(
            "The racks of hosts are not known, so groups take all hosts for equally far apart"
                + " until the application ends: {}",
            e instanceof TopologyException ? e.getMessage() : e.toString());
        fail();
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

  private void fail() {
    List<CompletableFuture<String>> all;
    synchronized (this) {
      failed = true;
      all = List.copyOf(racks.values());
    }
    all.forEach(each -> each.complete(UNKNOWN));
  }
}
