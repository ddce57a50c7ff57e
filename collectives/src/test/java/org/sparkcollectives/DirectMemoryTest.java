package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
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
    try (RankProcesses processes =
        RankProcesses.startWithRanks(options, ManyToMany.class, 2, ranksOfEach)) {
      for (int i = 0; i < 2; i++) {
        int each = i;
        assertThat(processes.exitStatus(each)).as(() -> processes.output(each)).isZero();
        assertThat(processes.output(each)).contains("exchanged");
      }
    }
  }
}
