package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

/** Tests which settings an elastic stage refuses, and that it says what to set. */
class RetryPreflightTest {

  private static SparkConf conf(String... settings) {
    SparkConf conf = new SparkConf(false);
    for (String each : settings) {
      conf.set(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
    }
    return conf;
  }

  @Test
  void tooFewFailuresOfATaskAreRefused() {
    for (SparkConf few : new SparkConf[] {conf(), conf("spark.task.maxFailures=99")}) {
      assertThatThrownBy(() -> RetryPreflight.check(few))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("gives the job up after " + few.get("spark.task.maxFailures", "4"))
          .hasMessageContaining("set --conf spark.task.maxFailures=1000");
    }
  }

  @Test
  void speculationIsRefused() {
    assertThatThrownBy(
            () ->
                RetryPreflight.check(conf("spark.task.maxFailures=1000", "spark.speculation=true")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("set --conf spark.speculation=false");
  }

  @Test
  void enoughFailuresWithoutSpeculationAreAllowed() {
    assertThatCode(() -> RetryPreflight.check(conf("spark.task.maxFailures=100")))
        .doesNotThrowAnyException();
  }
}
