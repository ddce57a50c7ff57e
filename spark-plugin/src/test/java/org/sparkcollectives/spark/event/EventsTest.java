package org.sparkcollectives.spark.event;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.util.JsonProtocol;
import org.junit.jupiter.api.Test;

/** Tests that events are what the event log keeps, for readers of any version. */
class EventsTest {

  private static final RankPlace PLACE = new RankPlace(1, "host-b", "4", 0, 1, 2);
  private static final RankSums RANK =
      new RankSums(1, 1000, 1 << 30, 12, 340, 0.25, true, 7890, 12345);

  /** Sums without the components that were added later. */
  private static final GroupSums FIRST_SUMS =
      sums(operation(0, 0), Map.of("loss", 0.25), "", List.of());

  private static final GroupSums SUMS =
      sums(
          operation(64, 0.0005),
          Map.of("done", 3.0, "total", 10.0),
          "loss 0.25",
          List.of(new ComparedOperation(7, "ALL_REDUCE", 0.001, 0.0005, 1)));

  private static final List<SparkListenerEvent> FIRST_EVENTS = events(FIRST_SUMS);
  private static final List<SparkListenerEvent> EVENTS = events(SUMS);

  private static OperationSums operation(long compared, double waitedSeconds) {
    return new OperationSums(
        "ALL_REDUCE", 20, "ring", 1000, 1 << 30, 0.001, 0.002, 1.5e9, compared, waitedSeconds);
  }

  private static GroupSums sums(
      OperationSums operation,
      Map<String, Double> training,
      String text,
      List<ComparedOperation> newest) {
    return new GroupSums(
        1000,
        1,
        4L << 30,
        3,
        1500,
        64,
        0.125,
        30_000,
        50_000,
        List.of(operation),
        List.of(RANK),
        training,
        text,
        newest);
  }

  private static List<SparkListenerEvent> events(GroupSums sums) {
    return List.of(
        new LibraryStarted(1, "0.1.0", "4.2.0", Map.of("spark.collectives.timeout", "30min")),
        new GroupMade(7, "world <0>", 2, 3, 0, 4, List.of(PLACE)),
        new GroupProgress(7, "world <0>", 3, sums),
        new GroupFailed(7, "world <0>", 4, 1, "host-b", "4", "EXCEPTION", "boom", "/d", "late"),
        new GroupEnded(7, "world <0>", 5, true, sums));
  }

  private static List<SparkListenerEvent> runs() {
    return List.of(
        new QuorumFormed(
            3, 6, 2, 500, true, 4, 5, 2, List.of(new ReplicaPlace(1, 9, "host-b", "4", 0))),
        new RunEnded(3, 7, "boom"));
  }

  private static List<SparkListenerEvent> all() {
    return Stream.concat(EVENTS.stream(), runs().stream()).toList();
  }

  private static SparkListenerEvent parsed(String line) {
    return JsonProtocol.sparkEventFromJson(line);
  }

  @Test
  void eachEventIsTheSameAfterTheEventLog() {
    for (SparkListenerEvent event : all()) {
      String line = JsonProtocol.sparkEventToJsonString(event);
      assertThat(line).startsWith("{\"Event\":\"" + event.getClass().getName() + "\"");
      assertThat(parsed(line)).isEqualTo(event);
    }
  }

  /**
   * The first lines are those of the first version. They are never changed: a line is added if
   * events get further components.
   */
  @Test
  void linesOfOlderVersionsAreRead() throws IOException {
    List<SparkListenerEvent> events =
        resource("events-0.1.0.jsonl").lines().map(EventsTest::parsed).toList();
    assertThat(events.subList(0, FIRST_EVENTS.size())).isEqualTo(FIRST_EVENTS);
    int later = FIRST_EVENTS.size();
    assertThat(events.get(later)).isEqualTo(new GroupProgress(7, "world <0>", 3, SUMS));
    assertThat(events.subList(later + 1, events.size())).isEqualTo(runs());
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = EventsTest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  @Test
  void aLineWithoutAnyComponentIsAnEventWithDefaults() {
    for (SparkListenerEvent event : all()) {
      String name = event.getClass().getName();
      assertThat(parsed("{\"Event\":\"" + name + "\"}")).hasSameClassAs(event);
    }
    GroupProgress empty = (GroupProgress) parsed(line(GroupProgress.class, ""));
    assertThat(empty).isEqualTo(new GroupProgress(0, "", 0, GroupSums.NONE));
    GroupProgress sums = (GroupProgress) parsed(line(GroupProgress.class, ",\"sums\":{}"));
    assertThat(sums.sums()).isEqualTo(GroupSums.NONE);
  }

  private static String line(Class<?> event, String components) {
    return "{\"Event\":\"" + event.getName() + "\"" + components + "}";
  }

  @Test
  void componentsOfLaterVersionsAreIgnored() {
    GroupMade made =
        (GroupMade)
            parsed(
                line(
                    GroupMade.class,
                    ",\"id\":3,\"colour\":\"red\",\"ranks\":[{\"rank\":2,\"rack\":{\"row\":1}}]"));
    assertThat(made.id()).isEqualTo(3);
    assertThat(made.ranks()).containsExactly(new RankPlace(2, "", "", 0, 0, 0));
  }

  @Test
  void nullInsideOfAListIsLeftOut() {
    GroupMade made = (GroupMade) parsed(line(GroupMade.class, ",\"ranks\":[null]"));
    assertThat(made.ranks()).isEmpty();
    Map<String, String> settings = new HashMap<>(Collections.singletonMap("a", null));
    assertThat(new LibraryStarted(0, null, null, settings).settings()).isEmpty();
  }

  @Test
  void longTextsAndListsAreCut() {
    String longText = "x".repeat(1 << 20);
    GroupFailed failed =
        new GroupFailed(1, longText, 0, 0, longText, longText, longText, longText, longText, null);
    assertThat(failed.text()).hasSize(GroupFailed.MOST_TEXT_CHARACTERS).endsWith("… (cut)");
    assertThat(JsonProtocol.sparkEventToJsonString(failed)).hasSizeLessThan(8 << 10);
    List<RankPlace> ranks =
        IntStream.range(0, 5000).mapToObj(i -> new RankPlace(i, "h", "1", 0, 0, 0)).toList();
    assertThat(new GroupMade(1, "g", 0, 0, 0, 5000, ranks).ranks()).hasSize(GroupMade.MOST_RANKS);
  }

  /** The figures of docs/operate/ui.md. */
  @Test
  void theSizeOfAnEventGrowsWithItsRowsAndRanks() {
    assertThat(progress(0, 0, 0)).as("bytes of an empty one").isLessThan(400);
    assertThat(progress(10, 0, 0) - progress(0, 0, 0)).as("ten operations").isLessThan(10 * 260);
    assertThat(progress(0, 100, 0) - progress(0, 0, 0)).as("a hundred ranks").isLessThan(100 * 190);
    assertThat(progress(0, 0, 16) - progress(0, 0, 0)).as("operations").isLessThan(16 * 110);
  }

  private static int progress(int operations, int ranks, int newest) {
    GroupSums sums =
        new GroupSums(
            123_456,
            0,
            12_345_678_901_234L,
            0,
            0,
            12_345,
            0.123,
            12_345_678,
            23_456_789,
            Collections.nCopies(
                operations,
                new OperationSums(
                    "REDUCE_SCATTER",
                    24,
                    "halving-doubling",
                    1_234_567,
                    1_234_567_890_123L,
                    0.00123,
                    0.0123,
                    1.23e9,
                    12_345,
                    0.00123)),
            IntStream.range(0, ranks)
                .mapToObj(
                    rank ->
                        new RankSums(
                            rank,
                            123_456,
                            1_234_567_890_123L,
                            1234,
                            123_456,
                            -0.123,
                            false,
                            12_345_678,
                            12_345_678))
                .toList(),
            Map.of(),
            "",
            Collections.nCopies(
                newest, new ComparedOperation(123_456, "REDUCE_SCATTER", 0.00123, 0.00123, 3)));
    String line =
        JsonProtocol.sparkEventToJsonString(
            new GroupProgress(1, "app-20260101/stage 3.0/world", 1_700_000_000_000L, sums));
    return line.getBytes(UTF_8).length;
  }

  /** Jackson must be able to make each type, or a history server shows no page at all. */
  @Test
  void eachTypeOfAnEventIsARecordOfPlainTypes() {
    for (SparkListenerEvent event : all()) {
      assertThat(event.getClass()).isRecord();
      assertThat(Arrays.stream(event.getClass().getRecordComponents()))
          .allSatisfy(
              component ->
                  assertThat(component.getType().getName())
                      .doesNotStartWith("scala")
                      .doesNotStartWith("org.apache.spark"));
    }
  }
}
