package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.Failure;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests ranks on hosts with networks of their own, one of which serves the store, when a host's
 * link is cut. Needs the right to make network namespaces.
 */
@Tag("faults")
@EnabledOnOs(OS.LINUX)
@ExtendWith(LeakCheck.class)
class CutLinkTest {

  private static final int SIZE = 3;
  private static final int VICTIM = 2;

  /** The first port; no other process runs on that host. */
  private static final int FIRST_PORT = 29_500;

  /** The time that an overloaded machine may add to each wait. */
  private static final Duration SLACK = Duration.ofSeconds(4 * FaultSettings.SLOWNESS);

  private static final Duration SECOND = Duration.ofSeconds(1);

  @BeforeAll
  static void namespacesArePermitted() {
    String obstacle = Namespaces.obstacle();
    assumeTrue(obstacle.isEmpty(), () -> "Network namespaces cannot be made here: " + obstacle);
  }

  /** The times and the outcome that a rank printed. */
  private record Ended(long cut, long joining, boolean joined, Outcome outcome, long closed) {

    Duration detection() {
      return micros(outcome.micros() - cut);
    }

    Duration close() {
      return micros(closed - outcome.micros());
    }

    Duration total() {
      return micros(closed - joining);
    }

    private static Duration micros(long micros) {
      return Duration.of(micros, ChronoUnit.MICROS);
    }

    @Override
    public String toString() {
      return String.format(
          "%s, ended %d ms after the cut with %s, closed in %d ms, %d ms in all: %s",
          joined ? "had the group" : "had no group",
          detection().toMillis(),
          outcome.exception(),
          close().toMillis(),
          total().toMillis(),
          outcome.message());
    }
  }

  @Test
  void aGroupWhoseLinkWasCutIsClosedWithoutWaitingForTheOtherEnd(@TempDir Path folder)
      throws Exception {
    Duration heartbeat = Duration.ofSeconds(2);
    Duration patience = Duration.ofSeconds(40);
    try (Ranks ranks = new Ranks(folder, heartbeat)) {
      for (int victim : new int[] {VICTIM, 0}) {
        ranks.join(patience, Integer.MAX_VALUE);
        ranks.awaitAll("joined");
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
        List<Ended> all = ranks.cut(victim);
        for (int rank = 0; rank < SIZE; rank++) {
          Ended ended = all.get(rank);
          System.out.println("rank " + victim + " is cut off; rank " + rank + " " + ended);
          assertThat(ended.detection())
              .as("rank %d: %s", rank, ended)
              .isLessThan(heartbeat.plus(SECOND).plus(SLACK));
          // The rank that serves the store may wait that long for the other ranks.
          assertThat(ended.close())
              .as("rank %d: %s", rank, ended)
              .isLessThan((rank == 0 ? heartbeat : SECOND).plus(SLACK));
        }
      }
    }
  }

  /** Covers the ranks that reach the store, and those that are cut off from it. */
  @Test
  void anOverdueOperationEndsSoonAfterItsTimeoutThoughTheLinkWasCut(@TempDir Path folder)
      throws Exception {
    Duration heartbeat = Duration.ofSeconds(12);
    Duration timeout = Duration.ofSeconds(3);
    try (Ranks ranks = new Ranks(folder, heartbeat)) {
      for (LinkedRank.Call call : LinkedRank.Call.values()) {
        for (int victim : new int[] {VICTIM, 0}) {
          ranks.join(Duration.ofSeconds(40), Integer.MAX_VALUE, call, timeout);
          ranks.awaitAll("joined");
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
          List<Ended> all = ranks.cut(victim);
          for (int rank = 0; rank < SIZE; rank++) {
            Ended ended = all.get(rank);
            System.out.println(
                call + ": rank " + victim + " is cut off; rank " + rank + " " + ended);
            assertThat(ended.detection())
                .as("rank %d: %s", rank, ended)
                .isLessThan(timeout.plus(SECOND).plus(SLACK));
            // Its own timeout, or that of another rank.
            assertThat(ended.outcome().kind())
                .as("rank %d: %s", rank, ended)
                .isEqualTo(Failure.Kind.TIMEOUT.name());
          }
        }
      }
    }
  }

  @Test
  void aRendezvousWhoseLinkIsCutIsOverSoonAfterTheGroupsTimeout(@TempDir Path folder)
      throws Exception {
    int moments = Integer.getInteger("faults.count", 10);
    long seed = Long.getLong("faults.seed", System.nanoTime() >>> 20);
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Duration timeout = Duration.ofSeconds(3);
    Duration heartbeat = Duration.ofSeconds(10);
    List<String> late = new ArrayList<>();
    try (Ranks ranks = new Ranks(folder, heartbeat)) {
      long window = ranks.timeToJoin();
      for (int i = 0; i < moments; i++) {
        long moment = (long) (random.nextDouble() * window);
        int victim = random.nextInt(SIZE);
        ranks.join(timeout, Integer.MAX_VALUE);
        LockSupport.parkNanos(moment);
        List<Ended> all = ranks.cut(victim);
        for (int rank = 0; rank < SIZE; rank++) {
          String text =
              String.format(
                  "rank %d is cut off after %.1f ms; rank %d %s",
                  victim, moment / 1e6, rank, all.get(rank));
          System.out.println(text);
          // A group that was made despite the cut fails as any group whose links are cut.
          Duration patience = all.get(rank).joined() ? heartbeat : SECOND;
          if (all.get(rank).total().compareTo(timeout.plus(patience).plus(SLACK)) > 0) {
            late.add(text);
          }
        }
      }
    }
    assertThat(late).isEmpty();
  }

  /** The ranks: one process on each host. Rank 0 serves the store. */
  private static final class Ranks implements AutoCloseable {

    private final Namespaces hosts = new Namespaces(SIZE);
    private final List<RankProcess> processes = new ArrayList<>();
    private final Namespaces.Switch links = hosts.openSwitch();
    private int port = FIRST_PORT;

    Ranks(Path folder, Duration heartbeat) throws Exception {
      try {
        for (int rank = 0; rank < SIZE; rank++) {
          processes.add(
              new RankProcess(
                  hosts.command(rank),
                  LinkedRank.class,
                  String.valueOf(heartbeat.toMillis()),
                  folder.toString()));
        }
        awaitAll("started");
      } catch (Exception | AssertionError e) {
        close();
        throw e;
      }
    }

    /** Makes every rank join the next group, and reduce {@code rounds} times in it. */
    void join(Duration timeout, int rounds) {
      join(timeout, rounds, LinkedRank.Call.REDUCE, timeout);
    }

    /** Makes every rank join the next group, and make this call {@code rounds} times in it. */
    void join(Duration timeout, int rounds, LinkedRank.Call call, Duration ofEachCall) {
      port++;
      for (int rank = 0; rank < SIZE; rank++) {
        processes.get(rank).forget();
        processes
            .get(rank)
            .send(
                String.format(
                    "join %d %d tcp://%s:%d?rank=%d&world_size=%d %s %d",
                    timeout.toMillis(),
                    rounds,
                    hosts.address(0),
                    port,
                    rank,
                    SIZE,
                    call,
                    ofEachCall.toMillis()));
      }
    }

    /** Cuts a rank off from the others, and heals the link when all ranks have ended. */
    List<Ended> cut(int victim) throws Exception {
      links.cut(victim);
      long cut = Outcome.now();
      List<String> closed = awaitAll("closed");
      List<Ended> all = new ArrayList<>();
      for (int rank = 0; rank < SIZE; rank++) {
        RankProcess process = processes.get(rank);
        all.add(
            new Ended(
                cut,
                Long.parseLong(process.said("joining")),
                process.said("joined") != null,
                Outcome.decode(process.said("ended")),
                Long.parseLong(closed.get(rank))));
      }
      hosts.heal();
      assertThat(awaitAll("left")).containsOnly("");
      return all;
    }

    /** Returns how many nanoseconds all ranks take to make a group when nothing fails. */
    long timeToJoin() throws Exception {
      long longest = 0;
      // The first run loads the classes.
      for (int i = 0; i < 2; i++) {
        long begun = Outcome.now();
        join(Duration.ofSeconds(40), 1);
        longest = 0;
        for (String joined : awaitAll("joined")) {
          longest = Math.max(longest, Long.parseLong(joined) - begun);
        }
        assertThat(awaitAll("left")).containsOnly("");
      }
      return TimeUnit.MICROSECONDS.toNanos(longest);
    }

    List<String> awaitAll(String word) throws Exception {
      List<String> said = new ArrayList<>();
      for (RankProcess each : processes) {
        said.add(each.await(word));
      }
      return said;
    }

    @Override
    public void close() throws IOException {
      for (RankProcess each : processes) {
        each.close();
      }
      links.close();
      hosts.close();
    }
  }
}
