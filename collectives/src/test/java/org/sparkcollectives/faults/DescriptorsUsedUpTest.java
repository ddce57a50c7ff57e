package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;

/** Tests a process whose user's code has used up its file descriptors for a while. */
@ExtendWith(LeakCheck.class)
class DescriptorsUsedUpTest {

  /** The descriptors that a JVM of the tests needs, and some for connections. */
  private static final int DESCRIPTORS = 512;

  private static final String USED_UP = "used up";

  /** Rank 0, in a process of its own. */
  static final class RankWithoutDescriptors {

    private RankWithoutDescriptors() {}

    public static void main(String[] arguments) throws Exception {
      Path stop = Path.of(arguments[1]);
      sum(
          0,
          arguments[0],
          () -> {
            Deque<FileInputStream> files = new ArrayDeque<>();
            useUp(files);
            System.out.println(USED_UP);
            Thread thread = new Thread(() -> keepUsedUp(files, stop), "uses-up-descriptors");
            thread.setDaemon(true);
            thread.start();
          });
    }

    private static void useUp(Deque<FileInputStream> files) {
      try {
        while (true) {
          files.add(new FileInputStream("/dev/null"));
        }
      } catch (IOException e) {
        // All descriptors are used up.
      }
    }

    /** Takes all descriptors, even those that other code closes later, until it is told to stop. */
    private static void keepUsedUp(Deque<FileInputStream> files, Path stop) {
      while (Files.exists(stop)) {
        useUp(files);
        LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
      }
      try {
        while (!files.isEmpty()) {
          files.remove().close();
        }
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** Runs {@code before} before the ranks connect in a second group. */
  private static void sum(int rank, String url, Runnable before) {
    GroupOptions options =
        GroupOptions.defaults().withTransports("tcp").withTimeout(Duration.ofMinutes(1));
    try (ProcessGroup world = Rendezvous.join(url, rank, 2, options)) {
      // This loads the classes, which takes descriptors too.
      world.allReduce(Tensor.of(new long[1]), ReduceOp.SUM).await();
      try (ProcessGroup second = world.newGroup(0, 1)) {
        world.barrier().await();
        before.run();
        long[] sum = {rank + 1};
        second.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
        System.out.println("sum " + sum[0]);
      }
    }
  }

  @Test
  void connectsAndIsConnectedToOnceItHasDescriptorsAgain(@TempDir Path folder) throws Exception {
    Path stop = Files.createFile(folder.resolve("stop"));
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    try (ForkedJvm rank =
        ForkedJvm.startWithDescriptors(
            DESCRIPTORS, RankWithoutDescriptors.class, url, stop.toString())) {
      Thread other =
          new Thread(
              () -> {
                rank.awaitOutput(USED_UP);
                // This is long enough for the ranks to try several times.
                LockSupport.parkNanos(Duration.ofSeconds(3).toNanos());
                try {
                  Files.delete(stop);
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              },
              "gives-descriptors-back");
      other.start();
      sum(1, url, () -> {});
      assertThat(rank.exitStatus()).as(rank.output()).isZero();
      assertThat(rank.output()).contains("sum 3");
      // There is at most one line for each of its ports, however often it has tried.
      assertThat(rank.output().lines())
          .filteredOn(line -> line.contains("Too many"))
          .hasSizeBetween(0, 2);
      assertThat(rank.output()).doesNotContain("\tat ");
      other.join();
    }
  }
}
