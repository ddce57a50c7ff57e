package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Runs the script as a user does; it makes hosts by namespaces. */
@EnabledOnOs(OS.LINUX)
class HostsProgramIT {

  @TempDir private Path directory;

  /** Leaves the test out where there can be no namespaces; fails where these are required. */
  private static void requireNamespaces() throws IOException, InterruptedException {
    boolean required = System.getenv("NAMESPACES_REQUIRED") != null;
    for (String command : new String[] {"unshare --net --pid --fork true", "tc -V", "python3 -V"}) {
      boolean works;
      try {
        works =
            new ProcessBuilder(command.split(" ", -1))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor()
                == 0;
      } catch (IOException none) {
        works = false;
      }
      if (required) {
        assertThat(works).as(command).isTrue();
      }
      assumeThat(works).as(command).isTrue();
    }
  }

  private static boolean anyNamespaceOf(long process) throws IOException {
    Path names = Path.of("/run/netns");
    if (!Files.isDirectory(names)) {
      return false;
    }
    try (var all = Files.list(names)) {
      return all.anyMatch(
          name -> name.getFileName().toString().startsWith("collectives-" + process + "-"));
    }
  }

  @Test
  void ranksOfThreeHostsAreMeasuredAndNothingIsLeft() throws Exception {
    requireNamespaces();
    String printed =
        ExampleScript.run(
            "hosts-benchmark",
            directory,
            0,
            "--hosts=3",
            "--alone",
            "--rounds=1",
            "--time=0.05",
            "--bytes=64k",
            "--encryption",
            "--output=" + directory);
    assertThat(printed).contains("3 hosts with 1 ranks each, 1000 Mbit/s, ours with TLS");
    JsonNode results = new ObjectMapper().readTree(directory.resolve("hosts.json").toFile());
    assertThat(results.get("rows").findValuesAsText("operation"))
        .containsExactly("all-reduce", "reduce-scatter", "all-gather");
    for (JsonNode row : results.get("rows")) {
      assertThat(row.get("failures")).isEmpty();
      assertThat(row.get("figures").get("ours").get("micros").asDouble()).isPositive();
      assertThat(row.get("figures").get("ours").get("share").asDouble()).isBetween(0.0, 1.5);
    }
    assertThat(anyNamespaceOf(results.get("process").asLong())).isFalse();
  }

  @Test
  void tooManyHostsAreRefused() throws Exception {
    assertThat(ExampleScript.run("hosts-benchmark", directory, 2, "--hosts=17"))
        .contains("--hosts must be 2 to 16");
  }
}
