package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests ranks on hosts whose network really fails, in the middle of large all-reduces over TCP.
 * Needs the right to make network namespaces.
 */
@EnabledOnOs(OS.LINUX)
@ExtendWith(LeakCheck.class)
class NamespacePartitionTest {

  private static final long SEED = 1;

  /**
   * The limit, which is far less than the deadline of the operation, and than TCP takes to give up.
   */
  private static final Duration LIMIT = FaultSettings.PATIENCE.dividedBy(2);

  @BeforeAll
  static void namespacesArePermitted() {
    Containers.requireNone(Namespaces.obstacle());
  }

  @Test
  void aRankThatIsCutOffFromAllIsNamedAndFailsByItself() throws Exception {
    FaultCase fault = partition(4, true);
    try (FaultRun run = new FaultRun(true)) {
      FaultRun.Result result = run.run(fault);
      System.out.println(result.text());

      assertThat(result.problems()).isEmpty();
      assertThat(result.detectionMillis().orElseThrow()).isLessThan((double) LIMIT.toMillis());
      for (int rank = 0; rank < fault.size(); rank++) {
        Outcome outcome = result.outcomes().get(rank);
        if (rank == fault.victim()) {
          assertThat(outcome.isWell()).as("the victim: %s", outcome).isFalse();
          assertThat(outcome.exception())
              .as("the victim: %s", outcome)
              .isNotEqualTo(CollectiveTimeoutException.class.getSimpleName());
        } else {
          assertThat(Fault.PARTITION.mayBeCalled(Failure.Kind.valueOf(outcome.kind()))).isTrue();
          assertThat(outcome.names(fault.victim())).as("rank %d: %s", rank, outcome).isTrue();
        }
      }
    }
  }

  @Test
  void twoRanksThatAreCutOffFromEachOtherAloneAreFoundBeforeTheDeadline() throws Exception {
    FaultCase fault = partition(3, false);
    int other = (fault.victim() + 1) % fault.size();
    Path folder = Files.createTempDirectory(Path.of("/dev/shm"), "faults-");
    List<RankProcess> ranks = new ArrayList<>();
    try (Namespaces hosts = new Namespaces(fault.size());
        TcpStoreServer store =
            TcpStore.server(hosts.outside(), 0, FaultSettings.SECRET, TransportSecurity.plain())) {
      String storeAddress = hosts.outside() + " " + store.port();
      for (int rank = 0; rank < fault.size(); rank++) {
        ranks.add(new RankProcess(folder, hosts.command(rank)));
      }
      for (int rank = 0; rank < fault.size(); rank++) {
        String where = storeAddress + " " + hosts.address(rank) + "  0";
        ranks.get(rank).send("case " + SEED + " " + fault.number() + " " + rank + " " + where);
      }
      awaitFrom(ranks, "ready");
      ranks.forEach(each -> each.send("go"));
      LockSupport.parkNanos(fault.moment().toNanos());
      long begun = Outcome.now();
      hosts.cutBetween(fault.victim(), other);
      List<Outcome> outcomes = awaitFrom(ranks, "ended").stream().map(Outcome::decode).toList();
      outcomes.forEach(
          each ->
              System.out.printf(
                  Locale.ROOT, "after %d ms: %s%n", (each.micros() - begun) / 1_000, each));

      for (Outcome outcome : outcomes) {
        assertThat(outcome.micros() - begun).isLessThan(LIMIT.toNanos() / 1_000);
        // The record names an end of the connection: the one whose kernel was the first to probe,
        // or the one that it blames.
        assertThat(outcome.exception())
            .as("%s", outcome)
            .isIn(
                PeerFailedException.class.getSimpleName(),
                GroupAbortedException.class.getSimpleName());
        assertThat(outcome.names(fault.victim()) || outcome.names(other) || outcome.namesNobody())
            .as("%s", outcome)
            .isTrue();
        assertThat(outcome.message())
            .containsPattern("rank (" + fault.victim() + "|" + other + ")\\b");
      }
      assertThat(outcomes)
          .anyMatch(each -> each.kind().equals(Failure.Kind.CONNECTION_RESET.name()));
      assertThat(awaitFrom(ranks, "closed")).containsOnly("");
      assertThat(awaitFrom(ranks, "left")).containsOnly("");

      hosts.heal();
      for (int rank = 0; rank < fault.size(); rank++) {
        String where = storeAddress + " " + hosts.address(rank);
        ranks.get(rank).send("next " + rank + " " + fault.size() + " " + where + " after");
      }
      assertThat(awaitFrom(ranks, "reduced")).containsOnly("6\twhole");
      assertThat(awaitFrom(ranks, "left")).containsOnly("");
    } finally {
      for (RankProcess each : ranks) {
        each.close();
      }
      Files.deleteIfExists(folder);
    }
  }

  @Test
  void namespacesAreGoneWhenClosed() throws Exception {
    String name;
    try (Namespaces hosts = new Namespaces(2)) {
      name = hosts.command(1).get(3);
      assertThat(Path.of("/run/netns", name)).exists();
    }
    assertThat(Path.of("/run/netns", name)).doesNotExist();
  }

  @Test
  void whatAKilledProcessHasLeftIsRemoved() throws Exception {
    Process ended = new ProcessBuilder("true").start();
    ended.waitFor();
    String name = Namespaces.nameOf(ended.pid(), 1) + "h0";
    Process made = new ProcessBuilder("ip", "netns", "add", name).start();
    assertThat(made.waitFor()).isZero();
    assertThat(Path.of("/run/netns", name)).exists();

    new Namespaces(1).close();

    assertThat(Path.of("/run/netns", name)).doesNotExist();
  }

  /** Returns what each of the ranks prints after a word. */
  private static List<String> awaitFrom(List<RankProcess> ranks, String word) throws Exception {
    List<String> said = new ArrayList<>();
    for (RankProcess each : ranks) {
      said.add(each.await(word));
    }
    return said;
  }

  /** Returns the first case of the row that is a partition of this size, over TCP alone. */
  private static FaultCase partition(int size, boolean shrinks) {
    return IntStream.iterate(0, number -> number + 1)
        .mapToObj(number -> FaultCase.of(SEED, number))
        .filter(each -> each.fault() == Fault.PARTITION && each.phase() == Phase.LARGE_ALL_REDUCE)
        .filter(each -> !each.sharedMemory() && each.size() == size && each.shrinks() == shrinks)
        .findFirst()
        .orElseThrow();
  }
}
