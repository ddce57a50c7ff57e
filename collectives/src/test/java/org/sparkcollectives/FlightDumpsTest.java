package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.recorder.DumpFolder;
import org.sparkcollectives.recorder.TraceAnalysis;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests when ranks dump their flight recorders, and what the dumps contain. */
@ExtendWith(LeakCheck.class)
class FlightDumpsTest {

  @TempDir Path folder;

  private RankContext context(String... more) {
    List<String> settings = new java.util.ArrayList<>(List.of(more));
    settings.add("spark.collectives.flightRecorder.folder=" + folder);
    return new HostedRank(settings, TransportSecurity.plain());
  }

  private static GroupOptions options() {
    return GroupOptions.defaults().withName("world");
  }

  private List<FlightDump> dumps(String occasion) {
    try {
      return DumpFolder.of(folder, "world", occasion).read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean hasFailed(ProcessGroup group) {
    try {
      group.allocate(DType.INT8, 1);
      return false;
    } catch (CollectiveException e) {
      return true;
    }
  }

  @Test
  void allRanksDumpOnceWhenAnOperationIsOverdueAndTheDumpsNameWhoIsMissing() {
    CountDownLatch begun = new CountDownLatch(1);
    GroupRuns.run(
        3,
        options(),
        context(),
        group -> {
          group.barrier().await();
          if (group.rank() == 1) {
            Eventually.holds(() -> hasFailed(group), () -> "the group does not fail here, too");
          } else if (group.rank() == 2) {
            Work work = group.allReduce(Tensor.of(1f), ReduceOp.SUM);
            begun.countDown();
            assertThatThrownBy(work::await).isInstanceOf(CollectiveException.class);
          } else {
            ProcessGroup hasty = group.withTimeout(Duration.ofMillis(300));
            begun.await();
            assertThatThrownBy(() -> hasty.allReduce(Tensor.of(1f), ReduceOp.SUM).await())
                .isInstanceOf(CollectiveException.class);
          }
          return null;
        });
    List<FlightDump> dumps = dumps("failure");
    assertThat(dumps).extracting(FlightDump::rank).containsExactly(0, 1, 2);
    assertThat(dumps).allSatisfy(dump -> assertThat(dump.reason()).contains("timed out"));
    assertThat(TraceAnalysis.of(dumps))
        .first()
        .asString()
        .contains("all-reduce #1 (float32 x 1, SUM) of group \"world\" did not end")
        .contains("ranks 0 and 2 were in it")
        .containsPattern("rank 1 \\(.*\\) had not called it, its last was barrier #0");
    assertThat(folder.resolve("world")).isDirectoryContaining("glob:**/failure");
  }

  @Test
  void allRanksOfTheWorldDumpWhenOneAsks() {
    GroupRuns.run(
        3,
        options(),
        context(),
        world -> {
          try (ProcessGroup pair = world.newGroup(0, 1)) {
            if (pair != null) {
              pair.barrier().await();
            }
            world.barrier().await();
            if (world.rank() == 1) {
              pair.flightRecorder().dumpAllRanks("first");
              awaitDumps("request-1", 3);
              world.flightRecorder().dumpAllRanks("second");
              awaitDumps("request-2", 3);
            }
            world.barrier().await();
          }
          return null;
        });
    assertThat(dumps("request-1")).extracting(FlightDump::reason).containsOnly("first");
    assertThat(dumps("request-2")).extracting(FlightDump::reason).containsOnly("second");
    // The other ranks may still be at the end of the barrier when they are asked.
    FlightDump first = dumps("request-1").get(1);
    assertThat(first.rank()).isEqualTo(1);
    assertThat(first.groups()).hasSize(2);
    GroupStatus world =
        first.groups().stream()
            .filter(group -> group.name().equals("world"))
            .findAny()
            .orElseThrow();
    assertThat(world.ranks()).containsExactly(0, 1, 2);
    assertThat(world.lastCompleted()).isZero();
    assertThat(folder.resolve("world/failure")).doesNotExist();
  }

  private void awaitDumps(String occasion, int count) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    Path path = DumpFolder.of(folder, "world", occasion).path();
    for (int rank = 0; rank < count; rank++) {
      // The file in Python's format is written second.
      while (!Files.exists(path.resolve("rank_" + rank))) {
        assertThat(System.nanoTime()).as("no dump of rank %s", rank).isLessThan(end);
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void nothingIsDumpedOnFailureWhereThatIsOff() {
    fail(context("spark.collectives.flightRecorder.dumpOnFailure=false"));
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aDumpThatCannotBeWrittenHidesNothing() throws IOException {
    Files.write(folder.resolve("world"), new byte[0]);
    fail(context());
    assertThat(folder.resolve("world")).isRegularFile();
  }

  private static void fail(RankContext context) {
    CountDownLatch ready = new CountDownLatch(2);
    GroupRuns.run(
        2,
        options(),
        context,
        group -> {
          ready.countDown();
          assertThat(ready.await(60, TimeUnit.SECONDS)).isTrue();
          if (group.rank() == 0) {
            group.abort(new IllegalStateException("the data is wrong"));
          }
          assertThatThrownBy(() -> group.barrier().await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("the data is wrong");
          return null;
        });
  }

  @Test
  void aRankDumpsForItself() {
    GroupRuns.run(
        2,
        options(),
        context(),
        group -> {
          group.allReduce(Tensor.of(1f), ReduceOp.SUM).await();
          FlightDump dump = group.flightRecorder().dump();
          assertThat(dump.rank()).isEqualTo(group.rank());
          assertThat(dump.executorId()).isEqualTo("test");
          assertThat(dump.records()).isEqualTo(group.flightRecorder().records()).hasSize(1);
          return null;
        });
  }

  @Test
  void aRankForgetsItsOwnRecordsAlone() {
    GroupRuns.run(
        2,
        options(),
        context(),
        group -> {
          group.barrier().await();
          if (group.rank() == 1) {
            group.flightRecorder().reset();
          }
          group.allReduce(Tensor.of(1f), ReduceOp.SUM).await();
          assertThat(group.flightRecorder().dump().records())
              .extracting(FlightRecord::sequenceNumber)
              .containsExactly(group.rank() == 1 ? new Long[] {1L} : new Long[] {0L, 1L});
          return null;
        });
  }
}
