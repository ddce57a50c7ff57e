package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.RankProcesses;

class LargeObjectsTest {

  /** The options of a JVM with room for one object of 200 MB, but not for two. */
  private static final List<String> OPTIONS = List.of("-Xmx320m", "-XX:+ExitOnOutOfMemoryError");

  @Test
  void objectsOf200MegabytesPassThroughHeapsThatHoldThemOnce() throws Exception {
    String port = String.valueOf(RankProcesses.freePort());
    try (ForkedJvm sender = ForkedJvm.start(OPTIONS, LargeObjectsRank.class, "0", port);
        ForkedJvm receiver = ForkedJvm.start(OPTIONS, LargeObjectsRank.class, "1", port)) {
      assertThat(sender.exitStatus()).as(sender::output).isZero();
      assertThat(receiver.exitStatus()).as(receiver::output).isZero();
      assertThat(sums(receiver)).hasSize(2).isEqualTo(sums(sender));
    }
  }

  private static List<String> sums(ForkedJvm process) {
    return process
        .output()
        .lines()
        .filter(line -> line.matches("(one array|many rows) .*"))
        .toList();
  }
}
