package org.sparkcollectives.testing;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;

/**
 * Lists the paths between ranks that are threads of one JVM. The contracts of groups run over all
 * of them or over some, or with {@code -Dpaths=TCP,SHM} over those.
 */
@SuppressWarnings("ImmutableEnumChecker") // Options never change, and the functions have no state.
public enum Paths {
  /** The default, and the fastest: all ranks see one memory. */
  HEAP(GroupOptions.defaults(), rank -> RankContext.process()),
  /** One memory, in a group that shares none with other processes. */
  HEAP_ONLY(over("heap", "tcp"), rank -> RankContext.process()),
  /** The default, while the ranks compare their calls. */
  DETAIL(GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL), rank -> RankContext.process()),
  /** Sockets only. */
  TCP(over("tcp"), rank -> RankContext.process()),
  /** Sockets only, where nearly everything that is sent is cut in three. */
  STRIPED(over("tcp"), rank -> host(stripes(), TransportSecurity.plain())),
  /** Sockets only, encrypted with TLS, with a key of the process. */
  TLS(over("tcp"), rank -> host(List.of(), TransportSecurity.ephemeralTls())),
  /** Sockets only, encrypted with TLS, with given certificates. */
  CERTIFICATES(over("tcp"), rank -> host(List.of(), TestTls.shared())),
  /** Stripes, each encrypted with TLS. */
  STRIPED_TLS(over("tcp"), rank -> host(stripes(), TransportSecurity.ephemeralTls())),
  /** Memory that ranks share as processes of one host do, each in a JVM of its own. */
  SHM(over("shm", "tcp"), HostedRank::inNode),
  /**
   * The heap within each pair of ranks, which different settings keep apart from the others; else
   * shared memory.
   */
  MIXED(GroupOptions.defaults(), rank -> HostedRank.inNode(rank / 2)),
  /** Two nodes to which ranks belong in turn, which first work within a node. */
  INTERLEAVED(GroupOptions.defaults(), SeveralNodes.inTurn(2)),
  /** Three nodes, which first work within a node; shared memory between nodes. */
  NODES(GroupOptions.defaults(), SeveralNodes.of(2, 3, 2)),
  /** A node of one rank and one of all others, which first work within a node; else sockets. */
  UNEVEN(over("heap", "tcp"), SeveralNodes.of(1, 3)),
  /** Nodes of one, two and four ranks, which first work within a node; sockets between nodes. */
  GROWING(over("heap", "tcp"), SeveralNodes.of(1, 2, 4)),
  /** A node of one rank and one of all others, with stripes between them. */
  STRIPED_NODES(over("heap", "tcp"), SeveralNodes.of(stripes(), 1, 3));

  private final GroupOptions options;
  private final IntFunction<RankContext> contexts;

  Paths(GroupOptions options, IntFunction<RankContext> contexts) {
    this.options = options;
    this.contexts = contexts;
  }

  /** Returns the options with these paths. */
  public GroupOptions options() {
    return options;
  }

  /** Returns what hosts a rank. */
  public RankContext context(int rank) {
    return contexts.apply(rank);
  }

  /** Returns all paths, or those that the property {@code paths} names. */
  public static List<Paths> all() {
    return named(List.of(values()));
  }

  /**
   * Returns some paths that differ from each other, or those that the property {@code paths} names.
   * They are enough for what is built upon collectives and messages and knows no path.
   */
  public static List<Paths> some() {
    return named(List.of(HEAP, DETAIL, TCP, STRIPED, TLS, INTERLEAVED));
  }

  /** Returns these paths, or those that the property {@code paths} names. */
  public static List<Paths> named(List<Paths> others) {
    String names = System.getProperty("paths", "");
    return names.isEmpty()
        ? others
        : Arrays.stream(names.split(",", -1)).map(Paths::valueOf).toList();
  }

  private static GroupOptions over(String... transports) {
    return GroupOptions.defaults().withTransports(transports);
  }

  private static RankContext host(List<String> settings, TransportSecurity security) {
    return new HostedRank(settings, security);
  }

  private static List<String> stripes() {
    return List.of("spark.collectives.tcp.connections=3", "tuning.stripeBytes=64");
  }
}
