package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the figures of the cost model that a file has. */
class CostProfileTest {

  @TempDir Path folder;

  private String profile(String text) throws IOException {
    return Files.writeString(folder.resolve("costs.properties"), text).toString();
  }

  @Test
  void aFileReplacesTheFiguresThatItHas() throws IOException {
    PathCosts defaults = CostProfile.of("auto").costs();
    assertThat(defaults.network()).isEqualTo(new CostModel(15e-6, 4e-6, 1L << 30, 8));
    PathCosts costs =
        CostProfile.of(profile("# two hosts\nlatency=30us\nheap.bandwidth = 4g\nmesh=2\n")).costs();
    assertThat(costs.network()).isEqualTo(new CostModel(30e-6, 4e-6, 1L << 30, 2));
    assertThat(costs.jvm()).isEqualTo(new CostModel(1e-6, 0, 4L << 30, 2));
    assertThat(costs.host()).isEqualTo(new CostModel(2e-6, 1e-6, 2L << 30, 2));
  }

  @Test
  void profilesThatPredictAlikeHaveTheSameText() throws IOException {
    String all = CostProfile.of(profile("latency=15us\nbandwidth=1024m\n")).toString();
    assertThat(all).isEqualTo(CostProfile.of("auto").toString());
    assertThat(CostProfile.of(profile("mesh=9")).toString()).isNotEqualTo(all).contains("mesh=9");
  }

  @Test
  void aFileThatIsNotThereIsRefused() {
    String absent = folder.resolve("none").toString();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CostProfile.of(absent))
        .withMessageStartingWith("The cost profile \"" + absent + "\" (spark.collectives.cost) ")
        .withMessageContaining("NoSuchFileException");
    assertThatIllegalArgumentException().isThrownBy(() -> CostProfile.of("\0"));
  }

  @Test
  void aFigureThatThereIsNotIsRefusedWithTheNearest() throws IOException {
    String file = profile("shm.latncy=1us");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CostProfile.of(file))
        .withMessageContaining("has \"shm.latncy\"; there are [latency, overhead, ")
        .withMessageEndingWith("Did you mean shm.latency?");
  }

  @Test
  void aMalformedFigureIsRefusedWithItsForm() throws IOException {
    String file = profile("bandwidth=fast");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CostProfile.of(file))
        .withMessageContaining(
            "bandwidth has the value 'fast'; it must be a whole number and b, k");
    String negative = profile("bandwidth=0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CostProfile.of(negative))
        .withMessageContaining("more than 0");
  }
}
