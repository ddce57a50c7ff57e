package org.sparkcollectives.internal.rendezvous;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.spi.failure.RankIdentity;

/**
 * The members of a group, as its ranks agreed at the rendezvous.
 *
 * @param name the group's unique name
 * @param description what the group is for
 * @param rank this rank
 * @param endpoints where each group rank is
 * @param secret what the connections of this group are authenticated with
 */
public record Membership(
    String name, String description, int rank, List<Endpoint> endpoints, byte[] secret) {

  /** The longest name, which leaves some room for {@link #id}. */
  private static final int MAX_NAME_BYTES = ConnectionId.MAX_GROUP_BYTES - 48;

  private static final NodeAddress NOWHERE =
      new NodeAddress("none", new Place("none", 0, false), "none", 0, "none");

  /** Returns a group whose other ranks do not exist, though the rank acts as if they did. */
  public static Membership withoutPeers(String name, String description, Endpoint self, int size) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      endpoints.add(rank == self.rank() ? self : new Endpoint(rank, NOWHERE, -1));
    }
    return new Membership(name, description, self.rank(), endpoints, new byte[32]);
  }

  /**
   * Refuses a name that is too long to be sent to peers.
   *
   * @throws IllegalArgumentException if it is longer than {@value #MAX_NAME_BYTES} bytes in UTF-8
   */
  public static void requireName(String name) {
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    if (length > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "The group's name is "
              + length
              + " bytes long; the most is "
              + MAX_NAME_BYTES
              + ": "
              + name.substring(0, 80)
              + "...");
    }
  }

  /**
   * Returns an id that tells the group apart from all others, even from one of the same name over
   * another store: the name and some digits that are derived from the secret without revealing it.
   */
  public String id() {
    byte[] digest = GroupSecret.derive(secret, "id of " + name);
    return name + "#" + HexFormat.of().formatHex(digest, 0, 8);
  }

  /** Returns the group and this rank, without the secret. */
  @Override
  public String toString() {
    return "group \"" + name + "\" (rank " + rank + " of " + size() + ")";
  }

  /** Returns how many ranks the group has. */
  public int size() {
    return endpoints.size();
  }

  /**
   * Returns the rank in the world of a rank of this group.
   *
   * @throws IllegalArgumentException if the group has no such rank
   */
  public int globalRank(int groupRank) {
    if (groupRank < 0 || groupRank >= size()) {
      throw new IllegalArgumentException(
          "Group \"" + name + "\" has ranks 0 to " + (size() - 1) + ", not " + groupRank);
    }
    return endpoints.get(groupRank).rank();
  }

  /**
   * Returns the rank in this group of a rank of the world.
   *
   * @throws IllegalArgumentException if it is not in this group
   */
  public int groupRank(int globalRank) {
    for (int groupRank = 0; groupRank < size(); groupRank++) {
      if (globalRank(groupRank) == globalRank) {
        return groupRank;
      }
    }
    throw new IllegalArgumentException(
        "Global rank " + globalRank + " is not in group \"" + name + "\"");
  }

  /** Returns the ranks in the world of all ranks, by rank in this group. */
  public int[] globalRanks() {
    return endpoints.stream().mapToInt(Endpoint::rank).toArray();
  }

  /** Returns where this rank is. */
  public Endpoint self() {
    return endpoints.get(rank);
  }

  /** Returns the rank of each of these ranks in the group from which this one was made. */
  public int[] ranksIn(Membership parent) {
    return endpoints.stream().mapToInt(parent.endpoints::indexOf).toArray();
  }

  /** Returns whether all ranks share this JVM. */
  public boolean isOneNode() {
    return endpoints.stream().allMatch(e -> e.nodeId().equals(self().nodeId()));
  }

  /** Returns the address of the host of each rank, by rank in this group. */
  public List<String> hostNames() {
    return endpoints.stream().map(Endpoint::host).toList();
  }

  /** Returns this rank's number among those of this group on its host. */
  public int localRank() {
    return hosts().index(rank);
  }

  /** Returns how many ranks of this group share this host, itself included. */
  public int ranksOnThisHost() {
    return (int) endpoints.stream().filter(self()::sharesHostWith).count();
  }

  /**
   * Returns how many processors there are for each rank on the host that has the fewest, rounded
   * down.
   */
  public int processorsPerRank() {
    Map<String, Long> ranks =
        endpoints.stream()
            .collect(Collectors.groupingBy(Membership::hostOf, Collectors.counting()));
    return endpoints.stream()
        .mapToInt(
            each -> each.node().place().processors() / Math.toIntExact(ranks.get(hostOf(each))))
        .min()
        .orElseThrow();
  }

  private static String hostOf(Endpoint endpoint) {
    String host = endpoint.node().place().id();
    return host.isEmpty() ? endpoint.nodeId() : host;
  }

  /** Returns which ranks share a JVM. */
  public Locality nodes() {
    return Locality.of(endpoints.stream().map(Endpoint::nodeId).toList());
  }

  /** Returns which ranks are on one host. Alike on all ranks. */
  public Locality hosts() {
    return Locality.of(endpoints.stream().map(Membership::hostOf).toList());
  }

  /**
   * Returns which ranks share memory of their host: none that has no memory there, and none of a
   * host with more than {@code most} ranks. Alike on all ranks.
   */
  public Locality sharingMemory(int most) {
    Locality hosts = hosts();
    return Locality.of(
        IntStream.range(0, size())
            .mapToObj(
                each ->
                    endpoints.get(each).node().place().hasSharedMemory()
                            && hosts.ranks(hosts.node(each)).length <= most
                        ? hostOf(endpoints.get(each))
                        : "rank " + each)
            .toList());
  }

  /**
   * Returns which ranks are in one rack; empty if the rack of a host is unknown, if all are in one,
   * or if each host has its own. Alike on all ranks: of a host whose ranks name several, the first
   * rank's counts.
   */
  public Optional<Locality> racks() {
    Locality hosts = hosts();
    List<String> names =
        IntStream.range(0, hosts.nodes())
            .mapToObj(host -> endpoints.get(hosts.rank(host, 0)).node().place().rack())
            .toList();
    if (names.contains("") || !Locality.of(names).isDivided()) {
      return Optional.empty();
    }
    return Optional.of(
        Locality.of(
            IntStream.range(0, size()).mapToObj(rank -> names.get(hosts.node(rank))).toList()));
  }

  /** Returns whether another JVM of this host has ranks of this group. */
  public boolean hasNeighbours() {
    return endpoints.stream()
        .anyMatch(each -> each.sharesHostWith(self()) && !each.nodeId().equals(self().nodeId()));
  }

  /** Returns a text with the number of ranks and their division in nodes. */
  public String layout() {
    return String.format(
        Locale.ROOT,
        "group \"%s\": %d ranks, %d JVMs, %d hosts%s",
        name,
        size(),
        nodes().nodes(),
        hosts().nodes(),
        racks().map(racks -> ", " + racks.nodes() + " racks").orElse(""));
  }

  /** Returns whether a rank shares this JVM. */
  public boolean isLocal(int groupRank) {
    return endpoints.get(groupRank).nodeId().equals(self().nodeId());
  }

  /** Returns this rank, as failure records name it. */
  public RankIdentity identity() {
    return identityOf(rank);
  }

  /** Returns a rank of this group, as failure records name it. */
  public RankIdentity identityOf(int groupRank) {
    Endpoint endpoint = endpoints.get(groupRank);
    return new RankIdentity(
        name, groupRank, endpoint.host(), endpoint.executorId(), endpoint.taskAttemptId());
  }

  /** Returns each rank and where it is, as messages name it. */
  public List<String> places() {
    List<String> places = new ArrayList<>();
    for (int peer = 0; peer < size(); peer++) {
      places.add(endpoints.get(peer).locationOf(peer).describe());
    }
    return places;
  }

  /** Returns where each rank accepts connections, as messages have it. */
  public List<String> addresses() {
    return endpoints.stream().map(each -> each.host() + ":" + each.port()).toList();
  }
}
