package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;

/** Tests the port on which a JVM's ranks listen. */
@ExtendWith(LeakCheck.class)
class ListeningPortTest {

  private static final List<byte[]> GARBAGE =
      List.of(
          "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
          new byte[] {0, 6, 1, 2, 3, 4, 5, 6},
          new byte[] {(byte) 0xff, (byte) 0xff, 1},
          // This is our magic number with a version that does not exist.
          new byte[] {0, 6, 0x53, 0x43, 0x4f, 0x4c, 0x7f, 0x7f});

  private static HostedRank listeningOn(int port, int retries) {
    return new HostedRank(
        List.of("spark.collectives.port=" + port, "spark.port.maxRetries=" + retries),
        TransportSecurity.plain());
  }

  @Test
  void strangersAreTurnedAwayAndDisturbNobody() throws Exception {
    int port = RankProcesses.freePort();
    GroupRuns.run(
        2,
        GroupOptions.defaults().withTransports("tcp"),
        listeningOn(port, 0),
        group -> {
          long[] sum = {1};
          for (byte[] garbage : GARBAGE) {
            if (group.rank() == 0) {
              try (Socket stranger = new Socket("127.0.0.1", port)) {
                stranger.setSoTimeout(30_000);
                stranger.getOutputStream().write(garbage);
                stranger.getOutputStream().flush();
                stranger.getInputStream().readAllBytes();
              }
            }
            group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
          }
          assertThat(sum[0]).isEqualTo(16);
          return null;
        });
  }

  @Test
  void aPortInUseIsNamedWithWhatToDo() throws Exception {
    try (ServerSocket taken = new ServerSocket(0);
        HashStore store = new HashStore()) {
      int port = taken.getLocalPort();
      assertThatThrownBy(
              () -> HostedGroups.create(store, 0, 1, GroupOptions.defaults(), listeningOn(port, 0)))
          .isInstanceOf(TransportException.class)
          .hasMessageContaining("port " + port)
          .hasMessageContaining("spark.collectives.port");
    }
  }

  @Test
  void aConfiguredPortIsFreeAgainForTheNextGroup() throws Exception {
    int port = RankProcesses.freePort();
    RankThreads.run(
        2,
        thread -> {
          for (int i = 0; i < 50; i++) {
            try (HashStore store = new HashStore();
                ProcessGroup group =
                    HostedGroups.create(
                        store, 0, 1, GroupOptions.defaults(), listeningOn(port, 0))) {
              assertThat(group.size()).isEqualTo(1);
            }
          }
          return null;
        });
  }

  @Test
  void theNextPortsAreTriedAsOftenAsConfigured() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      int port = taken.getLocalPort();
      GroupRuns.run(
          2,
          GroupOptions.defaults().withTransports("tcp"),
          listeningOn(port, 100),
          group -> {
            group.barrier().await();
            return null;
          });
    }
  }
}
