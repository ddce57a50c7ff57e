package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/** The driver's store after its end: Spark tells of jobs and stages that it ends itself. */
class EndedApplicationTest {

  @Test
  void aJobThatFailsAfterTheEndOfTheStoreIsNoError() {
    TestDriver driver = new TestDriver("1m");
    driver.close();

    assertThatCode(
            () -> {
              driver.store().jobEnded(1, false);
              driver.store().stageEnded(new StageAttempt(3, 0), true);
            })
        .doesNotThrowAnyException();
  }
}
