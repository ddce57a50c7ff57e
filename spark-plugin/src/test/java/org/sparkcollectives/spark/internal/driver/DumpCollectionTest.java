package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.config.ByteString;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.recorder.DumpFolder;
import org.sparkcollectives.recorder.RankDump;
import org.sparkcollectives.spark.internal.protocol.PackedDump;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

class DumpCollectionTest {

  private static final StageAttempt STAGE = new StageAttempt(3, 1);

  @TempDir Path folder;

  private DumpCollection collection(String maxSize) {
    return new DumpCollection(
        () -> "app-1",
        Configuration.of(Map.of("spark.collectives.flightRecorder.folder", folder.toString())),
        ByteString.parse(maxSize));
  }

  private static FlightDump dump(int rank) {
    GroupStatus group = new GroupStatus("world", "", List.of(0, 1, 2), -1, -1, -1);
    return new RankDump(
        new RankLocation(rank, "host", "1", rank), "a test", 1, List.of(group), List.of());
  }

  private Path failure() {
    return folder.resolve("app-1/stage-3.1/failure");
  }

  @Test
  void aClosedCollectionHasWrittenWhatCameAndReportsIt() throws Exception {
    try (DumpCollection dumps = collection("1m")) {
      dumps.receive(STAGE, "failure", PackedDump.pack(dump(0)));
      dumps.receive(STAGE, "failure", PackedDump.pack(dump(2)));
      assertThat(dumps.await(STAGE, "failure", 2, TimeUnit.SECONDS.toNanos(60)))
          .isEqualTo(failure());
      assertThat(dumps.await(STAGE, "failure", 3, 0)).isEqualTo(failure());
    }
    assertThat(new DumpFolder(failure()).read()).containsExactly(dump(0), dump(2));
    assertThat(Files.readString(failure().resolve("report.txt")))
        .contains("There is no dump of rank 1");
  }

  @Test
  void whatTheDumpsTellIsKnownOnceTheyAreAnalysed() throws Exception {
    try (DumpCollection dumps = collection("1m")) {
      assertThat(dumps.ofFailure(STAGE)).isEqualTo(FailureDump.NONE);
      dumps.receive(STAGE, "failure", PackedDump.pack(dump(0)));
      dumps.receive(STAGE, "failure", PackedDump.pack(dump(2)));
      dumps.await(STAGE, "failure", 2, TimeUnit.SECONDS.toNanos(60));
      dumps.reportAll();
      FailureDump found = dumps.ofFailure(STAGE);
      assertThat(found.folder()).isEqualTo(failure().toString());
      assertThat(found.awaitsFinding()).isFalse();
      assertThat(found.finding().orElseThrow()).startsWith("There is no dump of rank 1");
    }
  }

  @Test
  void theFindingOfOneFailureIsNotThatOfTheNextInTheStage() throws Exception {
    try (DumpCollection dumps = collection("1m")) {
      dumps.receive(STAGE, "failure", PackedDump.pack(dump(0)));
      dumps.await(STAGE, "failure", 1, TimeUnit.SECONDS.toNanos(60));
      dumps.reportAll();
      assertThat(dumps.ofFailure(STAGE).awaitsFinding()).isFalse();
      dumps.receive(STAGE, "failure", PackedDump.pack(dump(1)));
      dumps.await(STAGE, "failure", 2, TimeUnit.SECONDS.toNanos(60));
      assertThat(dumps.ofFailure(STAGE).awaitsFinding()).isTrue();
    }
  }

  @Test
  void noMoreIsWrittenThanWasSaid() throws IOException {
    try (DumpCollection dumps = collection("1b")) {
      dumps.receive(STAGE, "failure", PackedDump.pack(dump(0)));
      dumps.receive(STAGE, "failure", PackedDump.pack(dump(1)));
      dumps.receive(STAGE, "request-1", PackedDump.pack(dump(1)));
    }
    assertThat(new DumpFolder(failure()).read()).containsExactly(dump(0));
    assertThat(folder.resolve("app-1/stage-3.1")).isDirectoryNotContaining("glob:**request-1");
  }

  @Test
  void whatIsNoDumpKeepsNobodyFromDumping() throws IOException {
    byte[] packed = PackedDump.pack(dump(0));
    try (DumpCollection dumps = collection("1m")) {
      dumps.receive(STAGE, "failure", new byte[] {1, 2, 3});
      dumps.receive(STAGE, "../../out", packed);
    }
    List<String> names = new ArrayList<>();
    try (var paths = Files.walk(folder)) {
      paths.filter(Files::isRegularFile).forEach(each -> names.add(folder.relativize(each) + ""));
    }
    assertThat(names)
        .containsExactlyInAnyOrder(
            "app-1/stage-3.1/-/-/out/dump-0.json",
            "app-1/stage-3.1/-/-/out/rank_0",
            "app-1/stage-3.1/-/-/out/report.txt");
  }

  @Test
  void withoutAFolderThereIsATemporaryOneForTheUserAlone() throws Exception {
    Path path;
    try (DumpCollection dumps =
        new DumpCollection(() -> "app-1", Configuration.of(Map.of()), DumpCollection.MOST_BYTES)) {
      dumps.receive(STAGE, "failure", PackedDump.pack(dump(0)));
      path = dumps.await(STAGE, "failure", 1, TimeUnit.SECONDS.toNanos(60));
    }
    Path root = path.getParent().getParent().getParent();
    assertThat(root.getFileName().toString()).startsWith("spark-collectives-dumps-");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(root)))
        .isEqualTo("rwx------");
    try (var paths = Files.walk(root)) {
      for (Path each : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }
}
