package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Tests the message for a barrier stage with dynamic allocation. */
class DynamicAllocationTest {

  private static final String REFUSED =
      "Spark does not run barrier stages with dynamic allocation, whatever its limits are"
          + " (SPARK-24942), and this one has ";
  private static final String OFF =
      "Submit the application with --conf spark.dynamicAllocation.enabled=false ";

  @Test
  void bothSettingsAreGivenWithTheNumberOfExecutorsThatTheRanksNeed() {
    assertThat(new DynamicAllocation(9, 1, 4, 4, false).describe())
        .isEqualTo(
            REFUSED
                + "9 partitions, each of them a rank. "
                + OFF
                + "--conf spark.executor.instances=3 (an executor of 4 cores runs 4 ranks)");
  }

  @Test
  void thePageOnDeploymentHasTheMessage() {
    assertThat(Path.of("../docs/operate/deployment.md"))
        .content()
        .contains("\n" + new DynamicAllocation(9, 1, 4, 4, false).describe() + "\n");
  }

  @Test
  void anExecutorThatIsFullCountsOnce() {
    assertThat(new DynamicAllocation(8, 2, 2, 4, false).describe())
        .contains("--conf spark.executor.instances=4 (an executor of 4 cores runs 2 ranks)");
    assertThat(new DynamicAllocation(1, 1, 1, 1, false).describe())
        .contains("has 1 partition, ", "=1 (an executor of 1 core runs 1 rank)");
  }

  @Test
  void aStandaloneClusterIsAskedForTheCoresOfWholeExecutors() {
    assertThat(new DynamicAllocation(3, 3, 1, 4, true).describe())
        .endsWith(OFF + "--conf spark.cores.max=12 (an executor of 4 cores runs 1 rank)");
  }

  @Test
  void whereTheSizeOfExecutorsIsNotSetTheCoresOfTheRanksAreAskedFor() {
    assertThat(new DynamicAllocation(6, 2, 0, 0, true).describe())
        .endsWith(OFF + "--conf spark.cores.max=12 (a rank needs 2 cores)");
  }
}
