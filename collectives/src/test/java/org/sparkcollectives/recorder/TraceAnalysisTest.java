package org.sparkcollectives.recorder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.FlightRecord.NO_PEER;
import static org.sparkcollectives.FlightRecord.State.COMPLETED;
import static org.sparkcollectives.FlightRecord.State.FAILED;
import static org.sparkcollectives.FlightRecord.State.SCHEDULED;
import static org.sparkcollectives.FlightRecord.State.STARTED;
import static org.sparkcollectives.recorder.Traces.allReduce;
import static org.sparkcollectives.recorder.Traces.dump;
import static org.sparkcollectives.recorder.Traces.record;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.OpType;

class TraceAnalysisTest {

  private static FlightDump sound(int rank) {
    return dump(rank, allReduce(0, COMPLETED, 1), allReduce(1, COMPLETED, 1));
  }

  @Test
  void ranksThatDidTheSameLeaveNothingToSay() {
    List<FlightDump> dumps = List.of(sound(0), sound(1), sound(2));
    assertThat(TraceAnalysis.of(dumps)).isEmpty();
    assertThat(FlightTrace.report(dumps))
        .contains("The calls of all ranks match")
        .contains("rank 2 (host-2, executor 2): 2 records. Dumped because: a test");
  }

  @Test
  void aRankWithoutADumpIsNamed() {
    assertThat(TraceAnalysis.of(List.of(sound(0), sound(2))))
        .singleElement()
        .asString()
        .startsWith("There is no dump of rank 1:");
  }

  @Test
  void aRankThatDidNotCallIsNamedWithItsLastCall() {
    FlightDump ahead = dump(0, allReduce(0, COMPLETED, 1), allReduce(1, STARTED, 0));
    FlightDump failed = dump(1, allReduce(0, COMPLETED, 1), allReduce(1, FAILED, 5));
    FlightDump late = dump(2, allReduce(0, COMPLETED, 1));
    assertThat(TraceAnalysis.of(List.of(ahead, failed, late)))
        .singleElement()
        .asString()
        .contains("all-reduce #1 (float32 x 4, SUM) of group \"app/stage 1.0/world\" did not end")
        .contains("ranks 0 and 1 were in it")
        .contains("for 0.990 s when rank 0 dumped")
        .contains("rank 2 (host-2, executor 2) had not called it")
        .contains("its last was all-reduce #0 (float32 x 4, SUM), ended 0.999 s before");
  }

  @Test
  void aRankThatNeverCalledAnythingIsNamed() {
    FlightDump first = dump(0, allReduce(0, STARTED, 0));
    FlightDump second = dump(1, allReduce(0, SCHEDULED, 0));
    assertThat(TraceAnalysis.of(List.of(first, second, dump(2))))
        .singleElement()
        .asString()
        .contains("rank 0 was in it")
        .contains("rank 2 (host-2, executor 2) had not called it, nor any other collective");
  }

  @Test
  void callsThatDoNotMatchAreSetSideBySide() {
    FlightDump other = dump(1, allReduce(0, COMPLETED, 1), allReduce(1, 8, FAILED, 1));
    FlightDump usual = dump(0, allReduce(0, COMPLETED, 1), allReduce(1, FAILED, 1));
    FlightDump third = dump(2, allReduce(0, COMPLETED, 1), allReduce(1, FAILED, 1));
    assertThat(TraceAnalysis.of(List.of(usual, other, third)).get(0))
        .isEqualTo(
            "In group \"app/stage 1.0/world\" the calls do not match: ranks 0 and 2 called"
                + " all-reduce #1 (float32 x 4, SUM); rank 1 called all-reduce #1 (float32 x 8,"
                + " SUM).");
  }

  @Test
  void aMessageThatNobodyMetIsNamed() {
    FlightRecord receive = record(0, OpType.RECV, 4, "from rank 2, tag 7", 2, SCHEDULED, 0);
    FlightRecord any = record(1, OpType.RECV_ANY, 4, "from any rank, tag 8", NO_PEER, FAILED, 1);
    assertThat(TraceAnalysis.of(List.of(dump(0), dump(1, receive, any), dump(2))))
        .containsExactly(
            "rank 1 (host-1, executor 1) waited in recv #0 (float32 x 4, from rank 2, tag 7) of"
                + " group \"app/stage 1.0/world\", for which its peer had called nothing.",
            "rank 1 (host-1, executor 1) waited in recv-any #1 (float32 x 4, from any rank, tag 8)"
                + " of group \"app/stage 1.0/world\", which did not get through.");
  }

  @Test
  void theRankThatOthersWaitForIsFoundWithoutComparingClocks() {
    FlightRecord[] waiting = all(12, 6);
    FlightRecord[] slow = all(12, 1);
    assertThat(TraceAnalysis.of(List.of(dump(0, waiting), dump(1, slow), dump(2, waiting))))
        .containsExactly(
            "In group \"app/stage 1.0/world\" rank 1 came last most: the others waited 5.0 ms for"
                + " it on average in the 12 collectives that all ranks remember.");
  }

  private static FlightRecord[] all(int count, double millis) {
    return LongStream.range(0, count)
        .mapToObj(number -> allReduce(number, COMPLETED, millis))
        .toArray(FlightRecord[]::new);
  }
}
