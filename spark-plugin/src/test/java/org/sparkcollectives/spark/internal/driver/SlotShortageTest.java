package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests the message for a barrier stage with too few slots. */
class SlotShortageTest {

  private static final String MASTER = "spark://master:7077";

  private static String of(int slots, int executors) {
    return of(slots, executors, 0, MASTER);
  }

  private static String of(int slots, int executors, int asked, String master) {
    return new SlotShortage(
            3, slots, executors, asked, master, "spark-1", "2 cores for each task", 2)
        .describe(Duration.ofMillis(30_400));
  }

  @Test
  void whereSomeTasksFitFewerOfThemAreAdvised() {
    assertThat(of(2, 1))
        .isEqualTo(
            "The barrier stage has 3 partitions, and each is a rank that needs a slot of its own at"
                + " the same time; but after 30 s there are only 2 slots: 1 executor ("
                + MASTER
                + "), 2 cores for each task. Repartition to at most 2, or give the application 6"
                + " cores (spark.executor.instances x spark.executor.cores)");
  }

  @Test
  void whereNoTaskFitsAnyExecutorLargerOnesAreAdvised() {
    assertThat(of(0, 4))
        .contains("only 0 slots: 4 executors (" + MASTER + "), 2 cores for each task. No executor")
        .contains("has what a single task needs", "spark.executor.cores", "6 cores")
        .doesNotContain("Repartition", "registered");
  }

  @Test
  void whereNoExecutorHasRegisteredTheClusterManagerIsPointedTo() {
    assertThat(of(0, 0))
        .contains("only 0 slots: 0 executors (" + MASTER + "), 2 cores for each task. No executor")
        .contains("has registered", "cluster manager", "spark.collectives.preflight.timeout")
        .contains("the ranks need 6 cores in all")
        .doesNotContain("Repartition");
  }

  @Test
  void whereExecutorsAreMissingThatWereAskedForTheirPodsArePointedTo() {
    assertThat(of(2, 1, 3, "k8s://https://kubernetes.default.svc"))
        .contains("only 2 slots: 1 executor (k8s://https://kubernetes.default.svc)")
        .contains("Only 1 of the 3 executors asked for (spark.executor.instances) has registered")
        .contains("kubectl describe pods -l spark-role=executor,spark-app-selector=spark-1)")
        .contains("spark.collectives.preflight.timeout", "the ranks need 6 cores in all")
        .doesNotContain("Repartition");
    assertThat(of(0, 0, 2, "yarn"))
        .contains("Only 0 of the 2 executors asked for (spark.executor.instances) have registered")
        .contains("look up in the cluster manager")
        .doesNotContain("kubectl", "No executor");
  }

  @Test
  void whereAllExecutorsThatWereAskedForHaveRegisteredMoreAreAdvised() {
    assertThat(of(2, 1, 1, "yarn")).contains("Repartition to at most 2").doesNotContain("Only");
  }
}
