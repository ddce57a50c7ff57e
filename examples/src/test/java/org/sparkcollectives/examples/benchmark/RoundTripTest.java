package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RoundTripTest {

  @ParameterizedTest
  @ValueSource(strings = {"jvm", "host", "tcp"})
  @EnabledOnOs(OS.LINUX)
  void aRoundTripTakesSomeTimeOnEachPath(String path) throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream out = System.out;
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      RoundTrip.main(new String[] {path, "0.01"});
    } finally {
      System.setOut(out);
    }
    assertThat(Double.parseDouble(printed.toString(StandardCharsets.UTF_8).trim())).isPositive();
  }
}
