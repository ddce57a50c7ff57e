package org.sparkcollectives.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.spi.RankTuning;

/** Tests how many connections ranks use whose configuration names no number. */
class TcpConnectionsTest {

  /** Returns ranks, given the host of each and its number of processors. */
  private static Membership ranks(Object... hostsAndProcessors) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (int i = 0; i < hostsAndProcessors.length; i += 2) {
      int rank = i / 2;
      endpoints.add(
          new Endpoint(
              rank,
              new NodeAddress(
                  "node-" + rank,
                  new Place((String) hostsAndProcessors[i], (int) hostsAndProcessors[i + 1], true),
                  "127.0.0.1",
                  7000 + rank,
                  "executor"),
              -1));
    }
    return new Membership("group", "a test", 0, endpoints, new byte[32]);
  }

  private static int connections(Membership members, String setting) {
    return of(members, setting).perPeer();
  }

  private static TcpConnections of(Membership members, String setting) {
    return TcpConnections.of(
        members,
        Configuration.of(Map.of("spark.collectives.tcp.connections", setting)),
        RankTuning.DEFAULT);
  }

  @Test
  void twoConnectionsWhereEveryRankCanHaveTwoProcessors() {
    assertThat(connections(ranks("a", 2, "b", 2), "auto")).isEqualTo(2);
    assertThat(connections(ranks("a", 4, "a", 4), "auto")).isEqualTo(2);
    assertThat(connections(ranks("a", 64, "b", 64), "auto")).isEqualTo(2);
  }

  @Test
  void oneConnectionWhereAnyRankHasFewerThanTwoProcessors() {
    assertThat(connections(ranks("a", 3, "a", 3), "auto")).isEqualTo(1);
    assertThat(connections(ranks("a", 64, "b", 1), "auto")).isEqualTo(1);
    assertThat(connections(ranks("a", 64, "b", 3, "b", 3), "auto")).isEqualTo(1);
    assertThat(connections(ranks("a", 2, "a", 2, "a", 2), "auto")).isEqualTo(1);
  }

  /** Includes a rank of which the host is not known. */
  @Test
  void aRankOfAnUnknownHostHasThatForItself() {
    assertThat(connections(ranks("", 2, "", 2), "auto")).isEqualTo(2);
  }

  @Test
  void aConfiguredNumberOfConnectionsIsUsed() {
    assertThat(connections(ranks("a", 1, "a", 1), "5")).isEqualTo(5);
  }

  @Test
  void threadsBeyondTheProcessorsDoNotSpin() {
    int processors = Runtime.getRuntime().availableProcessors();
    assertThat(of(ranks("a", processors, "b", 1), "1").spin()).isPositive();
    assertThat(of(ranks("a", processors, "b", 1), "16").spin())
        .satisfies(spin -> assertThat(spin.isZero()).isEqualTo(processors < 16));
    Object[] crowd = new Object[2 * (processors + 1)];
    for (int i = 0; i < crowd.length; i += 2) {
      crowd[i] = "a";
      crowd[i + 1] = processors;
    }
    assertThat(of(ranks(crowd), "1").spin()).isEqualTo(Duration.ZERO);
  }
}
