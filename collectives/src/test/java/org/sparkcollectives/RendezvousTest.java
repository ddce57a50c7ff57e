package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.internal.rendezvous.EnvironmentRendezvous;
import org.sparkcollectives.internal.rendezvous.LocalAddress;
import org.sparkcollectives.spi.RendezvousHandler;
import org.sparkcollectives.store.FileStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;

/** Tests how ranks meet by a URL or by the environment, in processes of their own too. */
@ExtendWith(LeakCheck.class)
class RendezvousTest {

  /** A rank in a process: sums what all ranks have, repeatedly if it is told to. */
  static final class SummingRank {

    private SummingRank() {}

    public static void main(String[] args) {
      int rank = Integer.parseInt(args[0]);
      int size = Integer.parseInt(args[2]);
      boolean forEver = args.length > 3;
      try (ProcessGroup world = Rendezvous.join(args[1], rank, size, GroupOptions.defaults())) {
        do {
          long[] sum = new long[100_000];
          java.util.Arrays.fill(sum, rank + 1);
          world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
          System.out.println("sum " + sum[99_999]);
        } while (forEver);
      } catch (PeerFailedException e) {
        System.out.println("failed " + e.failure().kind() + " rank " + e.failure().rank());
        throw e;
      }
    }
  }

  @Test
  void processesMeetAtATcpAddressAndReduceTogether() throws Exception {
    assertThatThreeRanksReduceTogether("tcp://127.0.0.1:" + RankProcesses.freePort());
  }

  @Test
  void processesMeetInAFileAndReduceTogether(@TempDir Path folder) throws Exception {
    assertThatThreeRanksReduceTogether(folder.resolve("run").toUri().toString());
    assertThat(folder).isEmptyDirectory();
  }

  private static void assertThatThreeRanksReduceTogether(String url) throws Exception {
    try (RankProcesses ranks = RankProcesses.start(SummingRank.class, 3, url, "3")) {
      for (int rank = 0; rank < 3; rank++) {
        assertThat(ranks.exitStatus(rank)).as(ranks.output(rank)).isZero();
        assertThat(ranks.output(rank)).contains("sum 6");
      }
    }
  }

  @Test
  void aRankThatComesToAFileOfAnEarlierRunIsToldSo(@TempDir Path folder) {
    Path file = folder.resolve("run");
    try (Store left = new FileStore(file, 0)) {
      left.withPrefix("world").set("rendezvous/terms", new byte[] {'1'});
      String url = file.toUri().toString();
      GroupOptions options = GroupOptions.defaults().withName("world");
      assertThatThrownBy(() -> Rendezvous.join(url, 0, 2, options))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("world size of 2")
          .hasMessageContaining("did with a world size of 1");
    }
  }

  @Test
  void ranksMeetByTheirEnvironment() throws Exception {
    Map<String, String> variables =
        Map.of(
            "WORLD_SIZE", "2",
            "MASTER_ADDR", "127.0.0.1",
            "MASTER_PORT", String.valueOf(RankProcesses.freePort()));
    RankThreads.run(
        2,
        rank -> {
          RendezvousHandler handler =
              new EnvironmentRendezvous(
                  name -> name.equals("RANK") ? String.valueOf(rank) : variables.get(name));
          RendezvousHandler.Meeting meeting = handler.open(URI.create("env:/"));
          try {
            assertThat(meeting.size()).isEqualTo(2);
            assertThat(meeting.rank()).isEqualTo(rank);
            meeting.store().barrier("met", 2, Duration.ofSeconds(30));
          } finally {
            meeting.onClose().run();
          }
          return null;
        });
  }

  @Test
  void ranksListenAtTheAddressThatReachesTheOthers() {
    assertThat(LocalAddress.towards("127.0.0.2", 1)).isEqualTo("127.0.0.2");
    assertThat(LocalAddress.towards("::1", 1)).isEqualTo("0:0:0:0:0:0:0:1");
    assertThat(LocalAddress.towards("no.such.host.invalid", 1)).isEqualTo("127.0.0.1");
    assertThat(LocalAddress.towards("0.0.0.0", 1)).isEqualTo(LocalAddress.ofThisHost());
  }

  @Test
  void whatTheUrlSaysComesBeforeTheEnvironment() throws Exception {
    Map<String, String> variables =
        Map.of(
            "RANK", "7",
            "WORLD_SIZE", "9",
            "MASTER_ADDR", "127.0.0.1",
            "MASTER_PORT", String.valueOf(RankProcesses.freePort()));
    RendezvousHandler.Meeting meeting =
        new EnvironmentRendezvous(variables::get).open(URI.create("env:/?rank=0&world_size=1"));
    meeting.onClose().run();
    assertThat(meeting.rank()).isZero();
    assertThat(meeting.size()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "RANK; environment variable RANK expected, but not set",
        "WORLD_SIZE; environment variable WORLD_SIZE expected, but not set",
        "MASTER_ADDR; environment variable MASTER_ADDR expected, but not set",
        "MASTER_PORT; environment variable MASTER_PORT expected, but not set",
      })
  void aVariableThatIsMissingIsNamed(String missing, String reason) {
    Map<String, String> variables =
        new HashMap<>(
            Map.of(
                "RANK",
                "0",
                "WORLD_SIZE",
                "1",
                "MASTER_ADDR",
                "127.0.0.1",
                "MASTER_PORT",
                "29500"));
    variables.remove(missing);
    RendezvousHandler handler = new EnvironmentRendezvous(variables::get);
    assertThatThrownBy(() -> handler.open(URI.create("env:/")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
    variables.put(missing, "x");
    if (!missing.equals("MASTER_ADDR")) {
      assertThatThrownBy(() -> handler.open(URI.create("env:/")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("is not a number: x");
    }
  }

  @Test
  void aRankThatIsGivenTwiceIsRefused() {
    assertThatThrownBy(
            () ->
                Rendezvous.join(
                    "file:///tmp/x?rank=12&world_size=16", 0, 16, GroupOptions.defaults()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has a rank or world_size already");
  }

  @Test
  void aKilledProcessFailsTheOthersWhichNameIt() throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    try (RankProcesses ranks = RankProcesses.start(SummingRank.class, 3, url, "3", "for ever")) {
      for (int rank = 0; rank < 3; rank++) {
        ranks.awaitOutput(rank, "sum 6");
      }
      ranks.kill(2);
      for (int rank = 0; rank < 2; rank++) {
        assertThat(ranks.exitStatus(rank)).isNotZero();
        assertThat(ranks.output(rank)).contains("failed CONNECTION_RESET rank 2");
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "tcp://127.0.0.1?rank=0&world_size=1; port number missing",
        "tcp://127.0.0.1:1?world_size=1; rank parameter missing",
        "tcp://127.0.0.1:1?rank=0; world_size parameter missing",
        "tcp://127.0.0.1:1?rank=0&rank=1&world_size=2; rank is given twice",
        "tcp://127.0.0.1:1?rank=2&world_size=2; rank must be 0 to world_size - 1",
        "tcp://127.0.0.1:1?rank=x&world_size=2; rank is not a number: x",
        "file:///?rank=0&world_size=1; path missing",
        "file://host/path?rank=0&world_size=1; a file has no host (host)",
        "file:///path?world_size=1; rank parameter missing",
        "file:///path?rank=0&world_size=1&speed=9; unknown argument speed",
        "env://; environment variable RANK expected, but not set",
        "pigeon://roof?rank=0&world_size=2; No rendezvous handler for pigeon://",
      })
  void aUrlThatLacksSomethingIsRefusedWithWhatItLacks(String url, String reason) {
    assertThatThrownBy(() -> Rendezvous.join(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }
}
