package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.spi.CollectivesConfiguration;

/**
 * Tests ranks on two hosts with a slow link between them: sums are right, no rank is taken for
 * unresponsive, and a cut is found as on a fast link. Needs the right to make network namespaces,
 * and Python.
 */
@Tag("faults")
@EnabledOnOs(OS.LINUX)
class SlowLinkTest {

  private static final int PORT = 29_500;

  /** All-reduces of so many floats, and how many of each. */
  private static final int[][] SIZES = {{1, 21}, {16 << 10, 21}, {1 << 20, 7}};

  /** The time that an overloaded machine may add to each wait. */
  private static final Duration SLACK = Duration.ofSeconds(4 * FaultSettings.SLOWNESS);

  @BeforeAll
  static void namespacesArePermitted() throws InterruptedException {
    Containers.requireNone(Namespaces.obstacle());
    Containers.requireNone(SlowLink.obstacle());
    Containers.require();
  }

  /** A link with delay, limited bandwidth and loss. */
  private record Line(double delayMillis, double megabits, double loss) {

    /** Returns the least time of an all-reduce of two ranks, each of which must send its part. */
    long leastMicros(int floats) {
      double sending = 4.0 * floats * 8 / megabits;
      return Math.round(delayMillis * 1_000 + sending);
    }
  }

  /** The fastest is the last: a connection that has seen it sends too much at once for a while. */
  @Test
  void overALinkWithDelayAndLittleBandwidthAllIsRight(@TempDir Path folder) throws Exception {
    List<Line> lines =
        List.of(
            new Line(10, 100, 0),
            new Line(50, 20, 0),
            new Line(10, 100, 0.01),
            new Line(1, 1000, 0));
    List<RankProcess> ranks = new ArrayList<>();
    try (SlowLink link = new SlowLink(folder)) {
      link.set(50, 20, 0);
      for (int rank = 0; rank < 2; rank++) {
        String url =
            String.format(
                Locale.ROOT, "tcp://%s:%d?rank=%d&world_size=2", link.address(0), PORT, rank);
        ranks.add(new RankProcess(link.command(rank), SlowLinkRank.class, url));
      }
      for (RankProcess each : ranks) {
        assertThat(each.await("joined")).isEqualTo("1");
      }
      for (Line line : lines) {
        link.set(line.delayMillis(), line.megabits(), line.loss());
        StringBuilder text = new StringBuilder(line.toString());
        for (int[] size : SIZES) {
          ranks.forEach(each -> each.send("reduce " + size[0] + " " + size[1]));
          long micros = 0;
          for (RankProcess each : ranks) {
            micros = Math.max(micros, Long.parseLong(each.await("took")));
          }
          text.append(String.format(Locale.ROOT, ", %d bytes: %.1f ms", 4 * size[0], micros / 1e3));
          assertThat(micros).as("%s", text).isGreaterThanOrEqualTo(line.leastMicros(size[0]));
        }
        System.out.println(text);
      }
      ranks.forEach(each -> each.send("cut"));
      LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
      link.cut();
      checkEnd(ranks, Outcome.now());
    } finally {
      for (RankProcess each : ranks) {
        each.close();
      }
    }
  }

  private static void checkEnd(List<RankProcess> ranks, long cut) throws Exception {
    Duration heartbeat = CollectivesConfiguration.HEARTBEAT_TIMEOUT.defaultValue();
    for (RankProcess each : ranks) {
      Outcome outcome = Outcome.decode(each.await("ended"));
      Duration detection = Duration.of(outcome.micros() - cut, ChronoUnit.MICROS);
      Duration close =
          Duration.of(Long.parseLong(each.await("closed")) - outcome.micros(), ChronoUnit.MICROS);
      System.out.printf(
          Locale.ROOT,
          "ended %d ms after the cut, closed in %d ms: %s%n",
          detection.toMillis(),
          close.toMillis(),
          outcome.message());
      assertThat(outcome.message())
          .containsPattern("is cut off from the others|Connection timed out");
      assertThat(detection).isLessThan(heartbeat.plus(Duration.ofSeconds(1)).plus(SLACK));
      assertThat(close).isLessThan(Duration.ofSeconds(2).plus(SLACK));
    }
  }
}
