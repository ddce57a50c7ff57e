package org.sparkcollectives.spark.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.OpType;
import org.sparkcollectives.OperationStatistics;
import org.sparkcollectives.RankLocation;

/** Tests that any bytes are a report of an executor, or are refused with a message. */
class ExecutorReportFuzzTest {

  private static ExecutorReport report() {
    GroupStatistics statistics =
        new GroupStatistics(
            "app/stage 1.0/world",
            1,
            3,
            10,
            1,
            4096,
            1.5,
            2.5,
            2,
            0.25,
            new GroupStatistics.Paths(0, 1, 1),
            List.of(
                new OperationStatistics(OpType.ALL_REDUCE, 9, "ring", 10, 4096, 0.5, 0.01, 0.02),
                new OperationStatistics(OpType.BARRIER, -1, "", 1, 0, 0.5, 0.01, 0.02)),
            4,
            List.of(new Arrival(0, 1, 5, 6), new Arrival(4, 0, 7, 8)),
            new GroupStatistics.Progress(3, 10, "loss 0.25"));
    Failure failure =
        new Failure(
            Failure.Kind.EXCEPTION, new RankLocation(2, "host", "5", 7), "barrier", 3, "it broke");
    return new ExecutorReport(
        "5",
        "host",
        new ProcessStatistics(1, 2, 3),
        List.of(
            new RankReport(new StageAttempt(1, 0), 7, false, Optional.empty(), statistics),
            new RankReport(new StageAttempt(1, 0), 7, true, Optional.of(failure), statistics)));
  }

  static Stream<byte[]> seeds() {
    byte[] whole = report().encode();
    byte[] negative = whole.clone();
    negative[1] = -1;
    return Stream.of(
        whole,
        negative,
        new ExecutorReport("", "", ProcessStatistics.NONE, List.of()).encode(),
        Arrays.copyOf(whole, whole.length - 1),
        Arrays.copyOf(whole, whole.length + 1),
        new byte[0]);
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyBytesAreAReportOrRefused(byte[] bytes) {
    ExecutorReport read;
    try {
      read = ExecutorReport.decode(bytes);
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageStartingWith("a report of");
      read = report();
    }
    assertThat(ExecutorReport.decode(read.encode())).isEqualTo(read);
  }
}
