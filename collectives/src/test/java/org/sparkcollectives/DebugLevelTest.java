package org.sparkcollectives;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.testing.GroupRuns;

/** Tests what the debug levels write to the log, which in tests is the standard error. */
class DebugLevelTest {

  private static String logOf(Runnable action) {
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, UTF_8));
    try {
      action.run();
    } finally {
      System.setErr(before);
    }
    return log.toString(UTF_8);
  }

  @ParameterizedTest
  @EnumSource
  void groupsThatAreMadeAndClosedAreLoggedUnlessItIsOff(DebugLevel level) {
    GroupOptions options = GroupOptions.defaults().withName("logged").withDebugLevel(level);
    String log =
        logOf(
            () ->
                GroupRuns.run(
                    2,
                    options,
                    group -> {
                      group.barrier().await();
                      return null;
                    }));
    if (level == DebugLevel.OFF) {
      assertThat(log).doesNotContain("logged");
    } else {
      assertThat(log.lines().filter(line -> line.contains("\"logged\"")))
          .as(log)
          .hasSize(4)
          .filteredOn(line -> line.endsWith("is closed"))
          .hasSize(2);
      assertThat(log).contains("with netty and [heap, shm, tcp]");
    }
  }
}
