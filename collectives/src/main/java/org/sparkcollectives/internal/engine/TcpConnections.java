package org.sparkcollectives.internal.engine;

import java.time.Duration;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RankTuning;

/**
 * The number of connections over which a rank sends a large operation to a peer. All ranks of a
 * group determine it alike.
 *
 * @param perPeer how many, and thus how many threads a rank has in such an operation
 * @param smallestBytes what each must at least get of an operation
 * @param spin how long the threads beside the operation's own spin before they sleep
 */
public record TcpConnections(int perPeer, long smallestBytes, Duration spin) {

  /** The most connections by default: two threads copy as fast as one host's memory allows. */
  private static final int MOST_UNASKED = 2;

  /** Returns the configured number, or one that the processors of the hosts suggest. */
  public static TcpConnections of(
      Membership members, Configuration configuration, RankTuning tuning) {
    String asked = configuration.get(CollectivesConfiguration.CONNECTIONS);
    int perPeer =
        asked.equals(CollectivesConfiguration.AUTO)
            ? Math.max(1, Math.min(MOST_UNASKED, members.processorsPerRank()))
            : Integer.parseInt(asked);
    boolean eachHasAProcessor =
        members.ranksOnThisHost() * perPeer <= Runtime.getRuntime().availableProcessors();
    return new TcpConnections(
        perPeer, tuning.stripeBytes(), eachHasAProcessor ? tuning.spin() : Duration.ZERO);
  }
}
