package org.sparkcollectives.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConfigurationTest {

  private static final ConfigEntry<Duration> DELAY =
      ConfigEntry.duration("test.collectives.delay")
          .doc("A delay.")
          .since("1.0")
          .check(delay -> !delay.isZero(), "more than nothing")
          .defaultsTo(Duration.ofMinutes(5));

  @Test
  void anAbsentSettingHasItsDefault() {
    Configuration empty = Configuration.of(Map.of());
    assertThat(empty.get(DELAY)).isEqualTo(Duration.ofMinutes(5));
    assertThat(empty.isSet(DELAY)).isFalse();
    assertThat(DELAY.defaultText()).isEqualTo("5min");
  }

  @Test
  void aGivenSettingWinsOverASystemProperty() {
    System.setProperty(DELAY.key(), "1s");
    try {
      assertThat(Configuration.ofSystemProperties().get(DELAY)).isEqualTo(Duration.ofSeconds(1));
      assertThat(Configuration.of(Map.of(DELAY.key(), "2s")).get(DELAY))
          .isEqualTo(Duration.ofSeconds(2));
      assertThat(Configuration.of(key -> null).get(DELAY)).isEqualTo(Duration.ofSeconds(1));
    } finally {
      System.clearProperty(DELAY.key());
    }
  }

  @Test
  void aBadValueIsRefusedWithItsKeyAndTheAcceptedForm() {
    for (String bad : List.of("5", "soon", "1.5s", "-1s", "", "0s", "9999999999999999d")) {
      assertThatIllegalArgumentException()
          .as(bad)
          .isThrownBy(() -> Configuration.of(Map.of(DELAY.key(), bad)).get(DELAY))
          .withMessageContaining(DELAY.key())
          .withMessageContaining("'" + bad + "'")
          .withMessageContaining("30min")
          .withMessageContaining("more than nothing");
    }
  }

  @Test
  void durationsAreReadAsSparkReadsThem() {
    assertThat(TimeString.parse("7us")).isEqualTo(Duration.ofNanos(7_000));
    assertThat(TimeString.parse("7ms")).isEqualTo(Duration.ofMillis(7));
    assertThat(TimeString.parse(" 7 S ")).isEqualTo(Duration.ofSeconds(7));
    assertThat(TimeString.parse("7m")).isEqualTo(TimeString.parse("7min"));
    assertThat(TimeString.parse("7h")).isEqualTo(Duration.ofHours(7));
    assertThat(TimeString.parse("7d")).isEqualTo(Duration.ofDays(7));
    assertThat(TimeString.parse(" 0 ")).isEqualTo(Duration.ZERO);
    assertThat(TimeString.parse("0s")).isEqualTo(Duration.ZERO);
    assertThatIllegalArgumentException().isThrownBy(() -> TimeString.parse("00"));
    assertThatIllegalArgumentException().isThrownBy(() -> TimeString.parse("7"));
  }

  @Test
  void sizesAreReadAsSparkReadsThem() {
    assertThat(ByteString.parse("512")).isEqualTo(512);
    assertThat(ByteString.parse("512b")).isEqualTo(512);
    assertThat(ByteString.parse("64m")).isEqualTo(64L << 20);
    assertThat(ByteString.parse("1 GB")).isEqualTo(1L << 30);
    assertThat(ByteString.parse("1p")).isEqualTo(1L << 50);
    for (String bad : List.of("", "m", "1.5m", "-1", "1x", "999999999999999999p")) {
      assertThatIllegalArgumentException().as(bad).isThrownBy(() -> ByteString.parse(bad));
    }
  }

  @Test
  void whatIsFormattedIsReadBack() {
    for (long micros :
        new long[] {0, 1, 999, 1_000, 1_500, 1_000_000, 90_000_000, 86_400_000_000L}) {
      Duration duration = Duration.ofNanos(micros * 1_000);
      assertThat(TimeString.parse(TimeString.format(duration))).isEqualTo(duration);
    }
    for (long bytes : new long[] {0, 1, 1023, 1024, 1536, 64 << 20, Long.MAX_VALUE}) {
      assertThat(ByteString.parse(ByteString.format(bytes))).isEqualTo(bytes);
    }
  }

  @Test
  void numbersBooleansTextsAndListsAreReadAndChecked() {
    Configuration configuration =
        Configuration.of(Map.of("i", " 7 ", "b", "true", "s", "text", "l", "a, b,,c", "bad", "1?"));
    assertThat(configuration.get(ConfigEntry.integer("i").doc("").since("").defaultsTo(0)))
        .isEqualTo(7);
    assertThat(configuration.get(ConfigEntry.bool("b").doc("").since("").defaultsTo(false)))
        .isTrue();
    assertThat(configuration.get(ConfigEntry.string("s").doc("").since("").defaultsTo("")))
        .isEqualTo("text");
    assertThat(configuration.get(ConfigEntry.list("l").doc("").since("").defaultsTo(List.of())))
        .containsExactly("a", "b", "c");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> configuration.get(ConfigEntry.integer("bad").doc("").since("").defaultsTo(0)))
        .withMessageContaining("bad")
        .withMessageContaining("whole number");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> configuration.get(ConfigEntry.bool("bad").doc("").since("").defaultsTo(false)));
  }
}
