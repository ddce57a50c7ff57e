package org.sparkcollectives.spark.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.config.Configuration;

/** Tests how settings are read from those of Spark. */
class SparkSettingsTest {

  @Test
  void aSettingIsReadAsItIsWhenAsked() {
    SparkConf conf = new SparkConf(false).set("spark.collectives.preflight.timeout", "7s");
    Configuration settings = SparkSettings.of(conf);
    conf.set("spark.collectives.preflight.timeout", "8s");
    assertThat(settings.get(SparkPluginConfiguration.PREFLIGHT_TIMEOUT))
        .isEqualTo(Duration.ofSeconds(7));
  }

  @Test
  void aSettingThatIsNotSetHasItsDefault() {
    assertThat(SparkSettings.of(new SparkConf(false)).get(SparkPluginConfiguration.PYTHON_ENABLED))
        .isTrue();
  }
}
