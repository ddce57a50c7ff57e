package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Tests addresses of IPv6. */
@ExtendWith(LeakCheck.class)
class Ipv6Test {

  private int freePort;

  @BeforeEach
  void machineHasSuchAnAddress() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("::1"))) {
      freePort = socket.getLocalPort();
    } catch (IOException e) {
      assumeTrue(false, "this machine has no loopback address of IPv6: " + e.getMessage());
    }
  }

  @Test
  void ranksReachEachOther() {
    List<Integer> sums =
        GroupRuns.run(
            3,
            GroupOptions.defaults().withTransports("tcp"),
            new HostedRank(List.of("spark.collectives.bindHost=::1"), TransportSecurity.plain()),
            group -> {
              int[] sum = {group.rank()};
              group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
              return sum[0];
            });
    assertThat(sums).containsOnly(3);
  }

  @Test
  void ranksMeetAtAUrl() {
    RankThreads.run(
        2,
        rank -> {
          String url = "tcp://[::1]:" + freePort + "?rank=" + rank + "&world_size=2";
          try (ProcessGroup group = Rendezvous.join(url)) {
            group.barrier().await();
            return group.size();
          }
        });
  }
}
