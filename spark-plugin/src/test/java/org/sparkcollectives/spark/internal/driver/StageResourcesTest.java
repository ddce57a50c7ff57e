package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests numbers of cores as different versions of Spark have them. */
class StageResourcesTest {

  @Test
  void coresAreIntegersUntilSpark42AndFractionsFromSpark43On() {
    assertThat(StageResources.cores(2)).isEqualTo(2);
    assertThat(StageResources.cores(scala.math.BigDecimal.exact("3"))).isEqualTo(3);
    assertThat(StageResources.cores(scala.math.BigDecimal.exact("0.5"))).isEqualTo(1);
    assertThat(StageResources.cores("1.5")).isEqualTo(2);
  }
}
