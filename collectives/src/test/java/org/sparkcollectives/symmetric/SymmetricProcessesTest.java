package org.sparkcollectives.symmetric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;

/** Tests the memory that processes of a host share, and what remains when one is killed. */
@ExtendWith(LeakCheck.class)
@EnabledOnOs(OS.LINUX)
class SymmetricProcessesTest {

  /** The folder in which this test's processes alone share memory. */
  private Path folder;

  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createTempDirectory(Path.of("/dev/shm"), "symmetric-processes-test-");
  }

  @AfterEach
  void removeFolder() throws IOException {
    for (Path each : left()) {
      Files.delete(each);
    }
    Files.delete(folder);
  }

  private List<Path> left() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }

  /**
   * A rank in a process: passes a number around in a ring, with barriers between. Arguments: the
   * rank, the number of ranks, the URL, the folder, the rounds, and who stays away after them.
   */
  static final class RingRank {

    private RingRank() {}

    public static void main(String[] args) {
      int rank = Integer.parseInt(args[0]);
      int size = Integer.parseInt(args[1]);
      System.setProperty(CollectivesConfiguration.SHM_FOLDER.key(), args[3]);
      GroupOptions options =
          GroupOptions.defaults().withTransports("shm", "tcp").withTimeout(Duration.ofSeconds(60));
      try (ProcessGroup world = Rendezvous.join(args[2], rank, size, options);
          SymmetricMemory memory = SymmetricMemory.create(world, 1024)) {
        int next = (rank + 1) % size;
        int previous = (rank + size - 1) % size;
        Tensor there = memory.buffer(next, DType.INT64, 512, 1);
        Tensor here = memory.buffer(rank, DType.INT64, 512, 1);
        long[] found = new long[1];
        long start = System.nanoTime();
        for (long round = 0; round < Long.parseLong(args[4]); round++) {
          there.copyFrom(new long[] {round * size + rank});
          memory.putSignal(next, 0);
          memory.waitSignal(previous, 0);
          here.copyTo(found);
          if (found[0] != round * size + previous) {
            throw new IllegalStateException("round " + round + " brought " + found[0]);
          }
          memory.barrier(1);
        }
        System.out.println("went round in " + (System.nanoTime() - start) / 1_000_000 + " ms");
        if (args.length > 5) {
          if (rank == Integer.parseInt(args[5])) {
            Thread.currentThread().join();
          }
          memory.barrier(2);
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      } catch (RuntimeException e) {
        System.out.println("ended by " + e);
        throw e;
      }
    }
  }

  /** Longer than many rounds take on a busy machine. */
  private static final Duration MANY_ROUNDS = Duration.ofMinutes(30);

  private RankProcesses start(int size, long rounds, String... more) throws IOException {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    String[] arguments =
        Stream.concat(
                Stream.of(String.valueOf(size), url, folder.toString(), String.valueOf(rounds)),
                Stream.of(more))
            .toArray(String[]::new);
    return RankProcesses.start(RingRank.class, size, arguments);
  }

  @Test
  @Tag("full")
  void processesSignalAndMeetAtBarriersManyTimes() throws Exception {
    try (RankProcesses ranks = start(4, 1_000_000)) {
      for (int rank = 0; rank < 4; rank++) {
        ranks.awaitOutput(rank, "went round", MANY_ROUNDS);
        assertThat(ranks.exitStatus(rank)).as(ranks.output(rank)).isZero();
      }
    }
    assertThat(left()).isEmpty();
  }

  @Test
  void processesMeetUntilOneIsKilledWhichWakesTheOthersAndLeavesNoFile() throws Exception {
    try (RankProcesses ranks = start(3, 300, "1")) {
      for (int rank = 0; rank < 3; rank++) {
        ranks.awaitOutput(rank, "went round");
      }
      ranks.kill(1);
      long start = System.nanoTime();
      for (int rank : new int[] {0, 2}) {
        assertThat(ranks.exitStatus(rank)).isNotZero();
        assertThat(ranks.output(rank)).contains("ended by ").contains("rank 1");
      }
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }
    assertThat(left()).isEmpty();
  }
}
