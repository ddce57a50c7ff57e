package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the script as a user does: a driver and executors in processes of their own. */
class ScaleProgramIT {

  @TempDir private Path directory;

  @Test
  void aSparkStageServesAllNumbersOfRanks() throws Exception {
    String printed =
        ExampleScript.run(
            "scale",
            directory,
            0,
            "--master=local-cluster[2,4,1024]",
            "--time=5ms",
            "--warmup=1ms");
    assertThat(printed)
        .contains("# [2, 4, 8] ranks as tasks of a Spark stage on local-cluster[2,4,1024]")
        .contains("# median time (us)", "all-to-all 4 B each", "creation", "close")
        .containsPattern("all-reduce 1 MiB .* (flat|log|linear|quadratic) x")
        .contains("# wrong elements: 0;", "written: scale.csv, scale.png");
    assertThat(Files.readAllLines(directory.resolve("scale.csv")))
        .hasSize(1 + 3 * (GrowthCase.ALL.size() + 2));
    assertThat(directory.resolve("scale.png")).isNotEmptyFile();
  }

  @Test
  void aSingleSlotIsTooFew() throws Exception {
    String printed = ExampleScript.run("scale", directory, 1, "--master=local[1]");
    assertThat(printed).contains("A growth table needs 2 ranks or more, and there is room for 1");
  }
}
