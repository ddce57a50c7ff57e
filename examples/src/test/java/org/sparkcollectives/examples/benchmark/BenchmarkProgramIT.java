package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the script as a user does: a driver and executors in processes of their own. */
class BenchmarkProgramIT {

  @TempDir private Path directory;

  private String benchmark(int status, String... options) throws IOException, InterruptedException {
    List<String> all =
        new ArrayList<>(
            List.of("--iterations=3", "--warmup=1", "--max-bytes=64k", "--json=results.json"));
    all.addAll(List.of(options));
    return ExampleScript.run("benchmark", directory, status, all.toArray(String[]::new));
  }

  private JsonNode results() throws IOException {
    return new ObjectMapper().readTree(directory.resolve("results.json").toFile());
  }

  @Test
  void aSparkStageIsMeasuredBesideTreeAggregate() throws Exception {
    String printed = benchmark(0, "--compare", "--plot=plot.png");
    assertThat(printed).contains("4 ranks as tasks of a Spark stage on local-cluster[2,2,1024]");
    assertThat(printed).contains("# the same by treeAggregate + broadcast");
    assertThat(printed).contains("# wrong elements: 0");
    assertThat(results().get("results").findValuesAsText("implementation"))
        .containsOnly("spark-collectives", "treeAggregate + broadcast");
    assertThat(results().get("results").findValuesAsText("wrongElements")).contains("0");
    assertThat(directory.resolve("plot.png")).isNotEmptyFile();
  }

  @Test
  void sparksOwnBarrierIsMeasuredBesideOurs() throws Exception {
    benchmark(0, "--operation=barrier", "--compare", "--ranks=2");
    assertThat(results().get("results").findValuesAsText("implementation"))
        .containsExactly("spark-collectives", "BarrierTaskContext.barrier");
  }

  @Test
  void processesAreForkedWithWhatSparkSubmitLoaded() throws Exception {
    String printed = benchmark(0, "--processes=2", "--operation=broadcast", "--root=1");
    assertThat(printed).contains("2 ranks as JVMs of one host").contains("# wrong elements: 0");
  }
}
