package org.sparkcollectives.internal.engine;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.spi.CollectivesConfiguration;

/**
 * The transports of a group: the heap between ranks of one JVM, shared memory between JVMs of one
 * host, TCP between all others. The same on all ranks.
 *
 * @param heap whether ranks of a JVM use its heap
 * @param nodes in which JVM each rank is
 * @param hosts with which others each rank shares a host's memory
 * @param sharedMemory the folder of that memory; empty if this rank may not use it
 * @param machines on which host each rank is, whether or not it shares memory there
 * @param racks in which rack each rank is, if any rack has several hosts and not all of them
 */
public record GroupTransports(
    boolean heap,
    Locality nodes,
    Locality hosts,
    Optional<Path> sharedMemory,
    Locality machines,
    Optional<Locality> racks) {

  /** The most ranks of a host that share memory. More would spend their time on polling memory. */
  private static final int MOST_SHARING = 64;

  /** Finds them from where the ranks are, and from what the group may use. */
  public static GroupTransports of(
      Membership members, List<String> transports, Configuration configuration) {
    boolean shm = transports.contains("shm");
    boolean here = shm && members.ranksOnThisHost() <= MOST_SHARING;
    return new GroupTransports(
        transports.contains("heap"),
        members.nodes(),
        members.sharingMemory(shm ? MOST_SHARING : 0),
        here
            ? Optional.of(Path.of(configuration.get(CollectivesConfiguration.SHM_FOLDER)))
            : Optional.empty(),
        members.hosts(),
        members.racks());
  }

  /** Returns the number of ranks. */
  int size() {
    return hosts.size();
  }

  /** Returns whether all ranks see each other's heap. */
  boolean isOneHeap() {
    return heap && nodes.nodes() == 1;
  }

  /** Returns whether all ranks see the memory of one host, and are not in one JVM. */
  boolean isOneHost() {
    return hosts.nodes() == 1 && nodes.nodes() > 1;
  }

  /** Returns the ranks that see the heap of this one; empty if no ranks of the group share one. */
  Optional<int[]> inHeapOf(int rank) {
    return heap && nodes.largest() > 1
        ? Optional.of(nodes.ranks(nodes.node(rank)))
        : Optional.empty();
  }

  /** Returns how many ranks a rank reaches in which way. */
  public GroupStatistics.Paths paths(int rank) {
    int heapPeers = heap ? nodes.sizeOf(nodes.node(rank)) - 1 : 0;
    int hostPeers = hosts.sizeOf(hosts.node(rank)) - 1;
    int shared = Math.max(0, hostPeers - heapPeers);
    return new GroupStatistics.Paths(heapPeers, shared, size() - 1 - heapPeers - shared);
  }

  /** Returns how many pairs of ranks may reach each other in which way. */
  public GroupStatistics.Paths pairs() {
    int heapPairs = 0;
    int shared = 0;
    int tcp = 0;
    for (int rank = 0; rank < size(); rank++) {
      GroupStatistics.Paths peers = paths(rank);
      heapPairs += peers.heap();
      shared += peers.sharedMemory();
      tcp += peers.tcp();
    }
    return new GroupStatistics.Paths(heapPairs / 2, shared / 2, tcp / 2);
  }

  /** Returns whether these ranks reach each other over TCP only. */
  boolean areOverTcpOnly(int... ranks) {
    return hosts.areApart(ranks) && (!heap || nodes.areApart(ranks));
  }
}
