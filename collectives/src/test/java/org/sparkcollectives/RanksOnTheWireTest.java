package org.sparkcollectives;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.Wiretap;

/** Tests what an eavesdropper on the network sees of the traffic between ranks. */
class RanksOnTheWireTest {

  private static final String ADDRESS = "127.0.1.1";
  private static final String NAME = "the name of the group";
  private static final String TEXT = "anybody may see this";
  private static final int LARGE = 3 << 20;

  /**
   * Runs sums, broadcasts and messages between two ranks, each of which reaches the other through a
   * wiretap.
   */
  private static String seen(TransportSecurity security) throws Exception {
    int[] ports = {RankProcesses.freePort(), RankProcesses.freePort()};
    try (Wiretap first = Wiretap.on(ports[0], ADDRESS);
        Wiretap second = Wiretap.on(ports[1], ADDRESS)) {
      GroupRuns.run(
          2,
          GroupOptions.defaults().withTransports("tcp").withName(NAME),
          rank ->
              new HostedRank(
                  List.of(
                      "spark.collectives.host=" + ADDRESS,
                      "spark.collectives.port=" + ports[rank],
                      "spark.port.maxRetries=0"),
                  security),
          group -> {
            byte[] text = TEXT.repeat(LARGE / TEXT.length()).getBytes(UTF_8);
            byte[] own = group.rank() == 0 ? text.clone() : new byte[text.length];
            group.broadcast(Tensor.of(own), 0).await();
            assertThat(own).isEqualTo(text);
            byte[] message = TEXT.getBytes(UTF_8);
            if (group.rank() == 0) {
              group.send(Tensor.of(message), 1).await();
            } else {
              group.recv(Tensor.of(message), 0).await();
            }
            String object = group.objects().allGather(TEXT).get(0);
            assertThat(object).isEqualTo(TEXT);
            return null;
          });
      assertThat(second.seen()).hasSizeGreaterThan(LARGE);
      assertThat(first.seen()).isNotEmpty();
      return first.seen() + second.seen();
    }
  }

  @Test
  void whatEncryptedRanksSendIsNotSeen() throws Exception {
    String seen = seen(TransportSecurity.ephemeralTls());
    // The assertion is on a boolean, so that a failure does not print the whole traffic.
    assertThat(seen.contains("may see")).isFalse();
    assertThat(seen.contains(NAME)).isFalse();
  }

  @Test
  void whatPlainRanksSendIsSeen() throws Exception {
    String seen = seen(TransportSecurity.plain());
    assertThat(seen.contains("may see")).isTrue();
    assertThat(seen.contains(NAME)).isTrue();
  }
}
