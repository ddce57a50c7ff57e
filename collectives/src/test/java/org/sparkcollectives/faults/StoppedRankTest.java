package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests a process that is stopped in the middle of an operation on memory that the ranks of a host
 * share. The others fail, and take their tensors back. Whatever the process does when it is
 * resumed, it does not write to them.
 */
@EnabledOnOs(OS.LINUX)
@ExtendWith(LeakCheck.class)
class StoppedRankTest {

  private static final int STOPPED = 2;

  /** The number of rounds that run each operation once. */
  private static final int SAMPLE = StoppedRank.Operation.values().length;

  private static final int ALL = 100;

  @Test
  void aRankThatWasStoppedWritesToNobodysTensorsInASampleOfRounds(@TempDir Path folder)
      throws Exception {
    assertThatNobodyWrites(folder, SAMPLE, 3 << 20, 400, 40);
  }

  @Tag("faults")
  @Test
  void aRankThatWasStoppedWritesToNobodysTensors(@TempDir Path folder) throws Exception {
    assertThatNobodyWrites(folder, ALL, 200 << 20, 3000, 1500);
  }

  private static void assertThatNobodyWrites(
      Path folder, int rounds, int bytes, int timeoutMillis, int latestStopMillis)
      throws Exception {
    long seed = Long.getLong("faults.seed", System.nanoTime() >>> 20);
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    List<ForkedJvm> ranks = new ArrayList<>();
    try {
      for (int rank = 0; rank < StoppedRank.SIZE; rank++) {
        ranks.add(
            ForkedJvm.start(
                List.of("-Xmx900m"),
                StoppedRank.class,
                String.valueOf(rank),
                folder.toString(),
                String.valueOf(bytes),
                String.valueOf(timeoutMillis)));
      }
      List<String> wrong = new ArrayList<>();
      for (int round = 0; round < rounds; round++) {
        ranks.get(STOPPED).awaitOutput(StoppedRank.line(STOPPED, round, "begins"));
        Thread.sleep(random.nextInt(latestStopMillis));
        ranks.get(STOPPED).stop();
        awaitAll(ranks, round, "has its tensors back", false);
        ranks.get(STOPPED).resume();
        awaitAll(ranks, round, "has its tensors back", true);
        Files.createFile(StoppedRank.mayCheck(folder, round));
        awaitAll(ranks, round, "finds", true);
        for (int rank = 0; rank < StoppedRank.SIZE; rank++) {
          String well = StoppedRank.line(rank, round, "finds 0 changed elements");
          if (!ranks.get(rank).output().contains(well)) {
            wrong.add(lines(ranks.get(rank).output(), round));
          }
        }
      }
      assertThat(wrong).isEmpty();
    } finally {
      ranks.forEach(ForkedJvm::close);
    }
  }

  private static void awaitAll(List<ForkedJvm> ranks, int round, String what, boolean stopped) {
    for (int rank = 0; rank < ranks.size(); rank++) {
      if (stopped || rank != STOPPED) {
        ranks.get(rank).awaitOutput(StoppedRank.line(rank, round, what));
      }
    }
  }

  private static String lines(String output, int round) {
    return String.join(
        System.lineSeparator(),
        output.lines().filter(line -> line.startsWith("round " + round + ",")).toList());
  }
}
