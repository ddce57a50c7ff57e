package org.sparkcollectives.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnknownSettingsTest {

  private static final List<ConfigEntry<?>> KNOWN =
      List.of(
          entry("spark.collectives.timeout"),
          entry("spark.collectives.heartbeat.timeout"),
          entry("spark.collectives.store.timeout"));
  private static final Set<String> ELSEWHERE =
      Set.of("spark.collectives.gpu.", "spark.collectives.heartbeat.");

  private static ConfigEntry<?> entry(String key) {
    return ConfigEntry.string(key).doc("").since("0.1.0").defaultsTo("");
  }

  @ParameterizedTest
  @CsvSource({
    "spark.collectives.timout, spark.collectives.timeout",
    "spark.collectives.time-out, spark.collectives.timeout",
    "spark.collectives.hearbeat.timeout, spark.collectives.heartbeat.timeout",
    "spark.collectives.heartbeat.tiemout, spark.collectives.heartbeat.timeout",
    "spark.collectives.Store.Timeout, spark.collectives.store.timeout"
  })
  void aMisspeltSettingIsNamedWithTheNearestOne(String given, String nearest) {
    assertThat(UnknownSettings.of(List.of(given), KNOWN, ELSEWHERE))
        .containsExactly(
            "The setting "
                + given
                + " has no effect: there is none of that name. Did you mean "
                + nearest
                + "?");
  }

  @Test
  void aSettingThatIsNearNoneIsNamedToo() {
    assertThat(UnknownSettings.of(List.of("spark.collectives.größe"), KNOWN, ELSEWHERE))
        .containsExactly(
            "The setting spark.collectives.größe has no effect: there is none of that name");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.collectives.timeout",
        "spark.executor.cores",
        "spark.collectivesfoo",
        "timeout",
        "",
        "spark.collectives.gpu.ordinal"
      })
  void whatIsKnownOrOfAnotherModuleIsLeftAlone(String given) {
    assertThat(UnknownSettings.of(List.of(given), KNOWN, ELSEWHERE)).isEmpty();
  }
}
