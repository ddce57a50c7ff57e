package org.sparkcollectives.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.RankProcesses;

/**
 * Tests two pods of one node: processes of one machine, each of which is process 1 of a PID
 * namespace of its own. They cannot open each other's memory, so they count as two hosts.
 */
@Tag("faults")
@EnabledOnOs(OS.LINUX)
class TwoPodsTest {

  private static final List<String> POD =
      List.of("unshare", "--pid", "--fork", "--mount-proc", "--kill-child");

  @Test
  void processesInPidNamespacesOfTheirOwnTalkOverTcpAsOnTwoHosts(@TempDir Path folder)
      throws Exception {
    String obstacle = obstacle();
    assumeTrue(obstacle.isEmpty(), () -> "PID namespaces cannot be made here: " + obstacle);
    assertThat(run(POD, folder))
        .containsExactly(
            "place 1, ranks-here 1, shared-memory 0, reduced 8 8",
            "place 1, ranks-here 1, shared-memory 0, reduced 8 8");
  }

  @Test
  void processesOfOnePidNamespaceShareMemory(@TempDir Path folder) throws Exception {
    assertThat(run(List.of(), folder))
        .allSatisfy(
            said ->
                assertThat(said)
                    .contains("ranks-here 2")
                    .doesNotContain("shared-memory 0")
                    .contains("reduced 8 8"));
  }

  /** Returns what each of two ranks reports of the node that it is on. */
  private static List<String> run(List<String> place, Path folder) throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort() + "?world_size=2&rank=";
    List<RankProcess> ranks = new ArrayList<>();
    List<String> said = new ArrayList<>();
    try {
      for (int rank = 0; rank < 2; rank++) {
        ranks.add(new RankProcess(place, PodRank.class, url + rank, folder.toString()));
      }
      for (RankProcess each : ranks) {
        List<String> words = new ArrayList<>();
        for (String word : List.of("place", "ranks-here", "shared-memory", "reduced")) {
          words.add(word + " " + each.await(word));
        }
        said.add(String.join(", ", words));
      }
    } finally {
      for (RankProcess each : ranks) {
        each.close();
      }
    }
    System.out.println(String.join(System.lineSeparator(), said));
    return said;
  }

  /** Returns why there can be no PID namespaces here, or an empty string if there can be. */
  private static String obstacle() throws InterruptedException {
    List<String> command = new ArrayList<>(POD);
    command.add("true");
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String text = new String(process.getInputStream().readAllBytes(), UTF_8);
      boolean ended = process.waitFor(30, TimeUnit.SECONDS);
      return ended && process.exitValue() == 0 ? "" : "unshare: " + text.strip();
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
