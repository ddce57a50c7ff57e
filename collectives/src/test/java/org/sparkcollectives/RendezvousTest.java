package org.sparkcollectives;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.store.FileStore;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConfiguration;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.store.net.TransportSecurity;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;
import org.sparkcollectives.testing.Wiretap;

/** How ranks meet, in processes of their own too. */
@ExtendWith(LeakCheck.class)
class RendezvousTest {

  /** A rank in a process: sums what all ranks have, again and again if it is told to. */
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
    // Nobody listens there, else this could not.
    try (ServerSocket free = new ServerSocket(port)) {
      assertThat(free.isBound()).isTrue();
    }
  }

  @Test
  void ranksMeetWhereOtherHostsReachThemWithASecretOrWhenEverybodyIsTrusted() throws Exception {
    for (String setting :
        List.of(
            CollectivesConfiguration.RENDEZVOUS_SECRET.key() + "=open sesame",
            StoreConfiguration.INSECURE.key() + "=true")) {
      String key = setting.substring(0, setting.indexOf('='));
      System.setProperty(key, setting.substring(key.length() + 1));
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

  @Test
  void ranksThatDoNotComeAreNamed() {
    try (HashStore store = new HashStore()) {
      assertThatThrownBy(
              () ->
                  ProcessGroups.create(
                      store.withTimeout(Duration.ofMillis(200)), 1, 3, GroupOptions.defaults()))
          .isInstanceOf(CollectiveTimeoutException.class)
          .hasMessageContaining("2 of 3 ranks have not arrived: [0, 2]");
    }
  }

  @Test
  void theGroupsTimeoutBoundsItsMakingWhereItIsLessThanTheStores() {
    GroupOptions hasty = GroupOptions.defaults().withTimeout(Duration.ofMillis(300));
    try (HashStore store = new HashStore()) {
      long start = System.nanoTime();
      assertThatThrownBy(() -> ProcessGroups.create(store, 1, 3, hasty))
          .isInstanceOfSatisfying(
              CollectiveTimeoutException.class,
              e -> assertThat(e.missingRanks()).containsExactly(0, 2))
          .hasMessageContaining("after 0.3 s: 2 of 3 ranks have not arrived: [0, 2]");
      // Not the five minutes of the store.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
    }
  }

  @Test
  void theGroupsTimeoutBoundsTheSearchForAStoreThatNobodyServes() throws Exception {
    GroupOptions hasty = GroupOptions.defaults().withTimeout(Duration.ofMillis(300));
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    long start = System.nanoTime();
    assertThatThrownBy(() -> Rendezvous.join(url, 1, 2, hasty))
        .isInstanceOf(StoreConnectionException.class)
        .hasMessageContaining("Rank 1 does not reach rank 0");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
  }

  @Test
  void theRankThatServesTheStoreTellsTheOthersThatItHasGivenUp() throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    Duration[] timeouts = {Duration.ofSeconds(2), Duration.ofMinutes(2)};
    RankThreads.run(
        2,
        rank -> {
          GroupOptions options = GroupOptions.defaults().withTimeout(timeouts[rank]);
          if (rank == 0) {
            assertThatThrownBy(() -> Rendezvous.join(url, 0, 3, options))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("1 of 3 ranks have not arrived: [2]");
          } else {
            assertThatThrownBy(() -> Rendezvous.join(url, 1, 3, options))
                .isInstanceOfSatisfying(
                    PeerFailedException.class, e -> assertThat(e.failure().rank()).isZero())
                .hasMessageContaining("1 of 3 ranks have not arrived: [2]");
          }
          return null;
        });
  }

  /** As one whose host is cut off: nothing is heard of it. */
  @Test
  void aRendezvousThatHasFailedDoesNotWaitForAClientThatStays() throws Exception {
    int port = RankProcesses.freePort();
    GroupOptions hasty = GroupOptions.defaults().withTimeout(Duration.ofSeconds(2));
    Thread client =
        new Thread(
            () -> {
              try (Store store = TcpStore.connect("127.0.0.1", port, Duration.ofMinutes(1))) {
                assertThatThrownBy(() -> store.get("what nobody sets"))
                    .isInstanceOf(StoreConnectionException.class);
              }
            },
            "client");
    client.start();
    long start = System.nanoTime();
    assertThatThrownBy(() -> Rendezvous.join("tcp://127.0.0.1:" + port, 0, 2, hasty))
        .isInstanceOf(CollectiveTimeoutException.class);
    Duration silence =
        Configuration.ofSystemProperties().get(CollectivesConfiguration.HEARTBEAT_TIMEOUT);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(silence);
    client.join();
  }

  /** The store of a process that stands still: it takes connections, and says nothing. */
  @Test
  void theGroupsTimeoutBoundsItsMakingOverAStoreThatDoesNotAnswer() {
    GroupOptions hasty =
        GroupOptions.defaults().withName("silent").withTimeout(Duration.ofMillis(300));
    try (SilentStore store = new SilentStore()) {
      long start = System.nanoTime();
      assertThatThrownBy(() -> ProcessGroups.create(store, 1, 3, hasty))
          .isInstanceOf(StoreConnectionException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
    }
  }

  @Test
  void ranksOfDifferentWorldSizesAreToldSo() {
    try (HashStore store = new HashStore()) {
      GroupOptions options = GroupOptions.defaults().withName("uneven");
      store.withPrefix("uneven").set("rendezvous/terms", new byte[] {'4'});
      assertThatThrownBy(() -> ProcessGroups.create(store, 0, 3, options))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("world size of 3")
          .hasMessageContaining("did with a world size of 4");
    }
  }

  /** Ranks that chose algorithms by different figures would wait for each other in vain. */
  @Test
  void aRankWhoseChoicesWouldDifferIsToldSo() {
    assertThatRankIsRefused(
        GroupOptions.defaults(),
        "spark.collectives.cost.latency=1ms",
        "with spark.collectives.cost.latency of PT0.001S, but another rank did");
    assertThatRankIsRefused(
        GroupOptions.defaults(), "spark.collectives.cost.mesh=2", "cost.mesh of 2");
    assertThatRankIsRefused(
        GroupOptions.defaults(),
        "spark.collectives.tcp.connections=2",
        "with spark.collectives.tcp.connections of 2, but another rank did with"
            + " spark.collectives.tcp.connections of auto");
    assertThatRankIsRefused(
        GroupOptions.defaults().withTransports("tcp"),
        "spark.collectives.transports=heap,shm,tcp",
        "over the transports [tcp], but another rank did over the transports [heap, shm, tcp]");
    assertThatRankIsRefused(
        GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL),
        "spark.collectives.port.maxRetries=17",
        "debug level DETAIL at all ranks, but another rank did with debug level DETAIL at no rank");
  }

  private static void assertThatRankIsRefused(
      GroupOptions options, String setting, String message) {
    try (HashStore store = new HashStore()) {
      Store hasty = store.withTimeout(Duration.ofMillis(100));
      RankContext plain = new HostedRank(List.of(), TransportSecurity.plain());
      RankContext other = new HostedRank(List.of(setting), TransportSecurity.plain());
      GroupOptions named = GroupOptions.defaults().withName("unlike");
      // Its claim stays when it has waited in vain.
      assertThatThrownBy(() -> ProcessGroups.create(hasty, 0, 2, named, plain))
          .isInstanceOf(CollectiveTimeoutException.class);
      assertThatThrownBy(() -> ProcessGroups.create(store, 1, 2, options.withName("unlike"), other))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("Rank 1 joins group \"unlike\" ")
          .hasMessageContaining(message)
          .hasMessageContaining("All ranks must give the same");
    }
  }

  @Test
  void aRankIsTakenOnce() {
    try (HashStore store = new HashStore()) {
      GroupOptions options = GroupOptions.defaults().withName("taken");
      RankThreads.run(
          1,
          rank -> {
            try (ProcessGroup group = ProcessGroups.create(store, 0, 1, options)) {
              assertThatThrownBy(() -> ProcessGroups.create(store, 0, 1, options))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("Rank 0 of group \"taken\" is taken already");
              assertThat(group.size()).isEqualTo(1);
            }
            return null;
          });
    }
  }

  @Test
  void groupsLeaveNoKeysInTheStore() {
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          3,
          rank -> {
            GroupOptions options = GroupOptions.defaults().withName("g");
            try (ProcessGroup group = ProcessGroups.create(store, rank, 3, options)) {
              group.store().set("mine/" + rank, new byte[1]);
              group.barrier().await();
            }
            return null;
          });
      assertThat(store.listKeys()).isEmpty();
    }
  }

  @Test
  void severalGroupsOverOneStoreAreKeptApart() {
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          2,
          rank -> {
            GroupOptions options = GroupOptions.defaults();
            try (ProcessGroup first = ProcessGroups.create(store, rank, 2, options);
                ProcessGroup second = ProcessGroups.create(store, rank, 2, options)) {
              assertThat(first.name()).isNotEqualTo(second.name());
              int[] a = {1};
              int[] b = {10};
              Work workB = second.allReduce(Tensor.of(b), ReduceOp.SUM);
              first.allReduce(Tensor.of(a), ReduceOp.SUM).await();
              workB.await();
              assertThat(a[0]).isEqualTo(2);
              assertThat(b[0]).isEqualTo(20);
            }
            return null;
          });
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
        "file:///path?rank=0&world_size=1&speed=9; unknown arguments [speed]",
        "env://; environment variable RANK expected, but not set",
        "pigeon://roof?rank=0&world_size=2; No rendezvous handler for pigeon://",
      })
  void aUrlThatLacksSomethingIsRefusedWithWhatItLacks(String url, String reason) {
    assertThatThrownBy(() -> Rendezvous.join(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }
}
