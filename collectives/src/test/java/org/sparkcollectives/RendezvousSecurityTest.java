package org.sparkcollectives;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ServerSocket;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.internal.rendezvous.EnvironmentRendezvous;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RendezvousHandler;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;
import org.sparkcollectives.testing.Wiretap;

/** Tests who may join a rendezvous, and who can read what its ranks send. */
@ExtendWith(LeakCheck.class)
class RendezvousSecurityTest {

  @Test
  void ranksEncryptWhatTheySayToTheStoreAndToEachOther() throws Exception {
    String encryption = CollectivesConfiguration.ENCRYPTION.key();
    String secret = CollectivesConfiguration.RENDEZVOUS_SECRET.key();
    System.setProperty(encryption, "tls");
    System.setProperty(secret, "open sesame");
    int port = RankProcesses.freePort();
    try (Wiretap wire = Wiretap.on(port)) {
      RankThreads.run(
          2,
          rank -> {
            int seen = rank == 0 ? port : wire.port();
            String url = "tcp://127.0.0.1:" + seen + "?world_size=2&rank=" + rank;
            GroupOptions options = GroupOptions.defaults().withTransports("tcp");
            try (ProcessGroup world = Rendezvous.join(url, options)) {
              long[] sum = {rank + 1};
              world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
              assertThat(sum).containsExactly(3);
            }
            return null;
          });
      assertThat(wire.seen())
          .isNotEmpty()
          .doesNotContain("rendezvous/")
          .doesNotContain("127.0.0.1");
    } finally {
      System.clearProperty(encryption);
      System.clearProperty(secret);
    }
  }

  @Test
  void encryptionWithoutASecretIsRefused() {
    String property = CollectivesConfiguration.ENCRYPTION.key();
    System.setProperty(property, "TLS");
    try {
      assertThatThrownBy(() -> Rendezvous.join("tcp://127.0.0.1:1?rank=1&world_size=2"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(CollectivesConfiguration.RENDEZVOUS_SECRET.key());
    } finally {
      System.clearProperty(property);
    }
  }

  @Test
  void aProcessWithoutTheSecretMayNotJoin() {
    String property = CollectivesConfiguration.RENDEZVOUS_SECRET.key();
    System.setProperty(property, "open sesame");
    try (TcpStoreServer other =
        TcpStore.server("127.0.0.1", 0, "guess".getBytes(UTF_8), TransportSecurity.plain())) {
      String url = "tcp://127.0.0.1:" + other.port() + "?rank=1&world_size=2";
      assertThatThrownBy(() -> Rendezvous.join(url))
          .isInstanceOf(StoreConnectionException.class)
          .hasMessageContaining("secret");
    } finally {
      System.clearProperty(property);
    }
  }

  @Test
  void withoutASecretRanksDoNotMeetWhereOtherHostsReachThem() throws Exception {
    int port = RankProcesses.freePort();
    Map<String, String> variables =
        Map.of("MASTER_ADDR", "0.0.0.0", "MASTER_PORT", String.valueOf(port));
    RendezvousHandler byEnvironment = new EnvironmentRendezvous(variables::get);
    for (int rank = 0; rank < 2; rank++) {
      String who = "?world_size=2&rank=" + rank;
      assertThatThrownBy(() -> Rendezvous.join("tcp://0.0.0.0:" + port + who))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("0.0.0.0:" + port + " needs a secret")
          .hasMessageContaining("Set " + CollectivesConfiguration.RENDEZVOUS_SECRET.key());
      assertThatThrownBy(() -> byEnvironment.open(URI.create("env:/" + who)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("0.0.0.0:" + port + " needs a secret");
    }
    // If a process listened at this port, this would fail.
    try (ServerSocket free = new ServerSocket(port)) {
      assertThat(free.isBound()).isTrue();
    }
  }

  @Test
  void ranksMeetWhereOtherHostsReachThemWithASecret() throws Exception {
    String key = CollectivesConfiguration.RENDEZVOUS_SECRET.key();
    System.setProperty(key, "open sesame");
    try {
      String url = "tcp://0.0.0.0:" + RankProcesses.freePort() + "?world_size=2&rank=";
      RankThreads.run(
          2,
          rank -> {
            try (ProcessGroup world = Rendezvous.join(url + rank)) {
              world.barrier().await();
            }
            return null;
          });
    } finally {
      System.clearProperty(key);
    }
  }
}
