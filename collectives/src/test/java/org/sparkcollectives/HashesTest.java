package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.recorder.TraceAnalysis;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests the hashes of inputs and outputs in flight records. */
@ExtendWith(LeakCheck.class)
class HashesTest {

  private static final HostedRank HASHING =
      new HostedRank(
          List.of("spark.collectives.flightRecorder.hashes=true"), TransportSecurity.plain());

  private record Run(List<FlightRecord.Notes> notes, FlightDump dump) {}

  private static List<Run> run(
      HostedRank host, String transport, Function<ProcessGroup, Work> operation) {
    return GroupRuns.run(
        2,
        GroupOptions.defaults().withName("hashed").withTransports(transport, "tcp"),
        host,
        group -> {
          operation.apply(group).await();
          return new Run(
              group.flightRecorder().records().stream().map(FlightRecord::notes).toList(),
              group.flightRecorder().dump());
        });
  }

  private static List<FlightRecord.Notes> notes(
      String transport, Function<ProcessGroup, Work> operation) {
    List<FlightRecord.Notes> notes = new ArrayList<>();
    for (Run each : run(HASHING, transport, operation)) {
      assertThat(each.notes()).hasSize(1);
      notes.addAll(each.notes());
    }
    return notes;
  }

  static Stream<String> transports() {
    return Stream.of("heap", "tcp");
  }

  @ParameterizedTest
  @MethodSource("transports")
  void equalElementsHaveEqualHashesAndOthersOthers(String transport) {
    List<FlightRecord.Notes> sum =
        notes(transport, group -> group.allReduce(Tensor.of(group.rank(), 5L)));
    assertThat(sum.get(0).outputHash()).matches("[0-9a-f]{8}").isEqualTo(sum.get(1).outputHash());
    assertThat(sum.get(0).inputHash()).isNotEqualTo(sum.get(1).inputHash());
    List<FlightRecord.Notes> again =
        notes(transport, group -> group.allReduce(Tensor.of(1 - group.rank(), 5L)));
    assertThat(again.get(0))
        .isEqualTo(new FlightRecord.Notes("", sum.get(1).inputHash(), sum.get(0).outputHash()));
    List<FlightRecord.Notes> gathered =
        notes(
            transport,
            group -> group.allGather(Tensor.of(new long[4]), Tensor.of(group.rank(), 5L)));
    assertThat(gathered.get(0).inputHash()).isEqualTo(sum.get(0).inputHash());
    assertThat(gathered.get(0).outputHash())
        .isEqualTo(gathered.get(1).outputHash())
        .isNotEqualTo(sum.get(0).outputHash());
  }

  @ParameterizedTest
  @MethodSource("transports")
  void aRankThatGivesOrGetsNothingHasNoHash(String transport) {
    List<FlightRecord.Notes> sent =
        notes(transport, group -> group.broadcast(Tensor.of(group.rank(), 7), 1));
    assertThat(sent.get(0).inputHash()).isEmpty();
    assertThat(sent.get(1).inputHash())
        .isNotEmpty()
        .isEqualTo(sent.get(1).outputHash())
        .isEqualTo(sent.get(0).outputHash());
    List<FlightRecord.Notes> message =
        notes(
            transport,
            group ->
                group.rank() == 0
                    ? group.send(Tensor.of(1, 7), 1)
                    : group.recv(Tensor.of(0, 0), 0));
    assertThat(message.get(0)).isEqualTo(new FlightRecord.Notes("", sent.get(1).inputHash(), ""));
    assertThat(message.get(1)).isEqualTo(new FlightRecord.Notes("", "", sent.get(1).inputHash()));
    assertThat(notes(transport, ProcessGroup::barrier)).containsOnly(FlightRecord.Notes.NONE);
  }

  @Test
  void nothingIsHashedUnlessTheSettingSaysSo() {
    HostedRank plain = new HostedRank(List.of(), TransportSecurity.plain());
    for (Run each : run(plain, "heap", group -> group.allReduce(Tensor.of(1f)))) {
      assertThat(each.notes()).containsExactly(FlightRecord.Notes.NONE);
    }
  }

  @Test
  void theAnalysisNamesTheRanksWhoseResultsDiffer() {
    List<Run> runs = run(HASHING, "heap", group -> group.allReduce(Tensor.of(1f)));
    List<Run> others = run(HASHING, "heap", group -> group.allReduce(Tensor.of(2f)));
    assertThat(TraceAnalysis.of(List.of(runs.get(0).dump(), runs.get(1).dump()))).isEmpty();
    assertThat(TraceAnalysis.of(List.of(runs.get(0).dump(), others.get(1).dump())))
        .singleElement()
        .asString()
        .startsWith("all-reduce #0 (float32 x 1, SUM) of group \"hashed\" left different results")
        .contains(runs.get(0).notes().get(0).outputHash() + " on rank 0")
        .contains(others.get(1).notes().get(0).outputHash() + " on rank 1");
  }
}
