package org.sparkcollectives.gpu.nccl;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.gpu.testing.RanksOnOneGpu;

/**
 * Tests NCCL, its bindings and the groups over it, with ranks that are processes and share one GPU.
 * NCCL takes them for ranks of different hosts, and connects them by sockets.
 */
@Tag("gpu")
final class NcclOnOneGpuTest {

  private static final String LONG = "60000";
  private static final String SHORT = "3000";

  @ParameterizedTest
  @ValueSource(strings = {"calls", "scalable", "without blocking"})
  void allCallsArriveAsTheyWereMade(String what) throws Exception {
    RanksOnOneGpu.run(NcclProgram.class, 3, NcclProgram.DONE, what);
  }

  @Test
  void twoRanksOfOneHostOnOneGpuAreRefused() throws Exception {
    RanksOnOneGpu.runOnOneHost(NcclProgram.class, 2, NcclProgram.DONE, "one GPU for two");
  }

  @ParameterizedTest
  @ValueSource(strings = {"split", "not a number", "detail"})
  void groupsDoOnAGpuWhatTheyDoOnTheFake(String what) throws Exception {
    RanksOnOneGpu.run(NcclRankProgram.class, 3, NcclRankProgram.DONE, what);
  }

  @ParameterizedTest
  @ValueSource(strings = {"death of a peer", "abort"})
  void aPeerThatEndsIsNamed(String what) throws Exception {
    RanksOnOneGpu.run(NcclFailureProgram.class, 2, NcclFailureProgram.DONE, LONG, what);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rank that stays away", "operation of one rank alone"})
  void aPeerThatIsNotThereIsFoundOutByTheDeadline(String what) throws Exception {
    RanksOnOneGpu.run(NcclFailureProgram.class, 2, NcclFailureProgram.DONE, SHORT, what);
  }
}
