package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests what two ranks on two hosts say when the link between them is cut; {@link CutLinkTest} has
 * more hosts and moments. Needs the right to make network namespaces.
 */
@EnabledOnOs(OS.LINUX)
@ExtendWith(LeakCheck.class)
class TwoHostsTest {

  private static final int SIZE = 2;

  private static final Duration HEARTBEAT = FaultSettings.HEARTBEAT;

  /** The time that an overloaded machine may add to each wait. */
  private static final Duration SLACK = Duration.ofSeconds(4 * FaultSettings.SLOWNESS);

  @BeforeAll
  static void namespacesArePermitted() throws InterruptedException {
    Containers.requireNone(Namespaces.obstacle());
    Containers.require();
  }

  @Test
  void aCutLinkIsNamedInARendezvousAndInAGroup(@TempDir Path folder) throws Exception {
    try (LinkedRanks ranks = new LinkedRanks(SIZE, folder, HEARTBEAT)) {
      long cut = ranks.cut(1);
      ranks.join(FaultSettings.RENDEZVOUS, 1);
      checkRendezvous(ranks.end(cut));
      ranks.join(FaultSettings.PATIENCE, Integer.MAX_VALUE);
      ranks.awaitAll("joined");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
      checkGroup(ranks.cutUntilTheyEnd(1));
    }
  }

  private static void checkRendezvous(List<LinkedRanks.Ended> all) {
    for (LinkedRanks.Ended each : all) {
      System.out.println(each);
      assertThat(each.joined()).as("%s", each).isFalse();
      assertThat(each.total())
          .as("%s", each)
          .isLessThan(FaultSettings.RENDEZVOUS.plus(Duration.ofSeconds(1)).plus(SLACK));
    }
    Outcome served = all.get(0).outcome();
    assertThat(served.exception()).isEqualTo(CollectiveTimeoutException.class.getSimpleName());
    assertThat(served.names(1)).as("%s", served).isTrue();
    assertThat(served.message()).contains("1 of 2 ranks have not arrived: [1]");
    assertThat(all.get(1).outcome().message())
        .contains("Rank 1 does not reach rank 0", "within " + text(FaultSettings.RENDEZVOUS));
  }

  private static String text(Duration duration) {
    return duration.toSeconds() + "s: it did not answer";
  }

  private static void checkGroup(List<LinkedRanks.Ended> all) {
    for (LinkedRanks.Ended each : all) {
      System.out.println(each);
      assertThat(each.joined()).as("%s", each).isTrue();
      assertThat(each.detection())
          .as("%s", each)
          .isLessThan(HEARTBEAT.plus(Duration.ofSeconds(1)).plus(SLACK));
      assertThat(each.close()).as("%s", each).isLessThan(Duration.ofSeconds(2).plus(SLACK));
      // The heartbeats, or the system, which asks over the connection.
      assertThat(each.outcome().message())
          .containsPattern("is cut off from the others.*heartbeat.timeout is|Connection timed out");
    }
    Outcome server = all.get(0).outcome();
    assertThat(server.names(1)).as("%s", server).isTrue();
    // It cannot know on which side of the cut the others are.
    Outcome other = all.get(1).outcome();
    assertThat(other.names(0) || other.namesNobody()).as("%s", other).isTrue();
    assertThat(other.message()).contains("on rank 1");
  }
}
