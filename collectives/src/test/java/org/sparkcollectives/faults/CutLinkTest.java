package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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

  /** The time that an overloaded machine may add to each wait. */
  private static final Duration SLACK = Duration.ofSeconds(4 * FaultSettings.SLOWNESS);

  private static final Duration SECOND = Duration.ofSeconds(1);

  /** The error of a rank without a group: it names who is missing, or says it is cut off. */
  private static final String WHO_IS_MISSING =
      "ranks have not arrived: \\[\\d|the last to arrive has not said so"
          + "|does not reach rank 0|which of the 3 ranks are missing is not known";

  @BeforeAll
  static void namespacesArePermitted() throws InterruptedException {
    Containers.requireNone(Namespaces.obstacle());
    Containers.require();
  }

  @Test
  void aGroupWhoseLinkWasCutIsClosedWithoutWaitingForTheOtherEnd(@TempDir Path folder)
      throws Exception {
    Duration heartbeat = Duration.ofSeconds(10);
    Duration patience = Duration.ofSeconds(40);
    try (LinkedRanks ranks = new LinkedRanks(SIZE, folder, heartbeat)) {
      for (int victim : new int[] {VICTIM, 0}) {
        ranks.join(patience, Integer.MAX_VALUE);
        ranks.awaitAll("joined");
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
        List<LinkedRanks.Ended> all = ranks.cutUntilTheyEnd(victim);
        for (int rank = 0; rank < SIZE; rank++) {
          LinkedRanks.Ended ended = all.get(rank);
          System.out.println("rank " + victim + " is cut off; rank " + rank + " " + ended);
          assertThat(ended.detection())
              .as("rank %d: %s", rank, ended)
              .isLessThan(heartbeat.plus(SECOND).plus(SLACK));
          assertThat(ended.close())
              .as("rank %d: %s", rank, ended)
              .isLessThan(SECOND.multipliedBy(2).plus(SLACK));
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
    try (LinkedRanks ranks = new LinkedRanks(SIZE, folder, heartbeat)) {
      for (LinkedRank.Call call : LinkedRank.Call.values()) {
        for (int victim : new int[] {VICTIM, 0}) {
          ranks.join(Duration.ofSeconds(40), Integer.MAX_VALUE, call, timeout);
          ranks.awaitAll("joined");
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
          List<LinkedRanks.Ended> all = ranks.cutUntilTheyEnd(victim);
          for (int rank = 0; rank < SIZE; rank++) {
            LinkedRanks.Ended ended = all.get(rank);
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
    try (LinkedRanks ranks = new LinkedRanks(SIZE, folder, heartbeat)) {
      long window = ranks.timeToJoin();
      for (int i = 0; i < moments; i++) {
        long moment = (long) (random.nextDouble() * window);
        int victim = random.nextInt(SIZE);
        ranks.join(timeout, Integer.MAX_VALUE);
        LockSupport.parkNanos(moment);
        List<LinkedRanks.Ended> all = ranks.cutUntilTheyEnd(victim);
        for (int rank = 0; rank < SIZE; rank++) {
          String text =
              String.format(
                  Locale.ROOT,
                  "rank %d is cut off after %.1f ms; rank %d %s",
                  victim,
                  moment / 1e6,
                  rank,
                  all.get(rank));
          System.out.println(text);
          if (!all.get(rank).joined()) {
            assertThat(all.get(rank).outcome().message()).containsPattern(WHO_IS_MISSING);
          }
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
}
