package org.sparkcollectives.spark.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.store.StoreConfiguration;

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

  @Test
  void allDocumentedSettingsAreKnown() {
    SparkConf conf = new SparkConf(false).set("spark.collectives.ml.checkpointInterval", "1s");
    Stream.of(
            CollectivesConfiguration.entries(),
            StoreConfiguration.entries(),
            SparkPluginConfiguration.entries(),
            GpuConfiguration.entries())
        .flatMap(List::stream)
        .forEach(entry -> conf.set(entry.key(), entry.defaultText()));

    assertThat(SparkSettings.unknown(conf)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "spark.collectives.timout, spark.collectives.timeout",
    "spark.collectives.preflight.timout, spark.collectives.preflight.timeout",
    "spark.collectives.ui.enable, spark.collectives.ui.enabled",
    "spark.collectives.transport, spark.collectives.transports",
    "spark.collectives.gpu.ordnal, spark.collectives.gpu.ordinal",
    "spark.collectives.hearbeat.timeout, spark.collectives.heartbeat.timeout"
  })
  void aMisspeltSettingIsNamedWithTheNearestOne(String given, String nearest) {
    assertThat(SparkSettings.unknown(new SparkConf(false).set(given, "1")))
        .singleElement()
        .asString()
        .contains(given)
        .endsWith("Did you mean " + nearest + "?");
  }
}
