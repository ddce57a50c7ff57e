package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.RankProcesses;

/** Tests that ranks exchange data with many others in little direct memory. */
class DirectMemoryTest {

  @Test
  void ranksOfTwoProcessesExchangeDataInLittleDirectMemory() throws Exception {
    // Segments of 128 KiB for each connection, in each direction, would be 64 MiB.
    assertThatRanksExchangeData(16, List.of("-Xmx256m", "-XX:MaxDirectMemorySize=32m"));
  }

  @Tag("soak")
  @Test
  void sixtyFourRanksOfTwoSmallProcessesExchangeData() throws Exception {
    // They would be 256 MiB.
    assertThatRanksExchangeData(32, List.of("-Xmx512m", "-XX:MaxDirectMemorySize=64m"));
  }

  private static void assertThatRanksExchangeData(int ranksOfEach, List<String> options)
      throws Exception {
    int size = 2 * ranksOfEach;
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    List<ForkedJvm> running = new ArrayList<>();
    try {
      for (int first = 0; first < size; first += ranksOfEach) {
        running.add(
            ForkedJvm.start(
                options,
                ManyToMany.class,
                String.valueOf(first),
                String.valueOf(first + ranksOfEach),
                String.valueOf(size),
                url));
      }
      for (ForkedJvm each : running) {
        assertThat(each.exitStatus()).as(each::output).isZero();
        assertThat(each.output()).contains("exchanged");
      }
    } finally {
      running.forEach(ForkedJvm::close);
    }
  }
}
