package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;

/** Tests a process whose user's code has used up its file descriptors, for a while or for good. */
@ExtendWith(LeakCheck.class)
class DescriptorsUsedUpTest {

  /** The descriptors that a JVM of the tests needs, and some for connections. */
  private static final int DESCRIPTORS = 512;

  private static final String USED_UP = "used up";
  private static final String LACK =
      "the process has no file descriptors left (the limit is " + DESCRIPTORS + ")";

  /** Rank 0, in a process of its own. */
  static final class RankWithoutDescriptors {

    private RankWithoutDescriptors() {}

    public static void main(String[] arguments) throws Exception {
      Path stop = Path.of(arguments[2]);
      loadClasses();
      try {
        run(
            Step.valueOf(arguments[1]),
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
      } catch (CollectiveException e) {
        System.out.println("failed: " + e.getMessage());
      }
    }

    /**
     * Loads the classes that are files of their own here, unlike in the jar, so that none is opened
     * later.
     */
    private static void loadClasses() throws IOException {
      for (String each : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
        Path root = Path.of(each);
        if (each.endsWith("classes") && Files.isDirectory(root)) {
          try (Stream<Path> files = Files.walk(root)) {
            files
                .map(file -> root.relativize(file).toString())
                .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                .forEach(name -> load(name.replace(".class", "").replace('/', '.')));
          }
        }
      }
    }

    private static void load(String name) {
      try {
        Class.forName(name, false, RankWithoutDescriptors.class.getClassLoader());
      } catch (ClassNotFoundException | LinkageError e) {
        // Nothing here needs it.
      }
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

  /** The step of the second group, which has no connection before. */
  private enum Step {
    /** Rank 0 connects and is connected to. */
    SUM,
    /** Rank 0 connects. */
    SEND,
    /** Rank 0 is connected to. */
    RECEIVE
  }

  /** Runs {@code before} before the ranks connect in a second group. */
  private static void run(Step step, int rank, String url, Runnable before) {
    GroupOptions options =
        GroupOptions.defaults().withTransports("tcp").withTimeout(Duration.ofMinutes(1));
    try (ProcessGroup world = Rendezvous.join(url, rank, 2, options)) {
      // This loads the classes, which takes descriptors too.
      world.allReduce(Tensor.of(new long[1]), ReduceOp.SUM).await();
      try (ProcessGroup second = world.newGroup(0, 1)) {
        world.barrier().await();
        before.run();
        long[] sum = {rank + 1};
        switch (step) {
          case SUM -> second.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
          case SEND -> second.broadcast(Tensor.of(sum), 0).await();
          case RECEIVE -> second.broadcast(Tensor.of(sum), 1).await();
        }
        System.out.println("sum " + sum[0]);
      }
    }
  }

  @Test
  void connectsAndIsConnectedToOnceItHasDescriptorsAgain(@TempDir Path folder) throws Exception {
    Path stop = Files.createFile(folder.resolve("stop"));
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    try (ForkedJvm rank = start(url, Step.SUM, stop)) {
      Thread other =
          new Thread(
              () -> {
                rank.awaitOutput("cannot accept connections");
                try {
                  Files.delete(stop);
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              },
              "gives-descriptors-back");
      other.start();
      run(Step.SUM, 1, url, () -> rank.awaitOutput(USED_UP));
      assertThat(rank.exitStatus()).as(rank.output()).isZero();
      assertThat(rank.output()).contains("sum 3");
      // There is at most one line for each of its ports, however often it has tried.
      assertThat(rank.output().lines())
          .filteredOn(line -> line.contains("no file descriptors left"))
          .hasSizeBetween(1, 2);
      assertThat(rank.output()).doesNotContain("\tat ");
      other.join();
    }
  }

  private static ForkedJvm start(String url, Step step, Path stop) throws IOException {
    return ForkedJvm.startWithDescriptors(
        DESCRIPTORS, RankWithoutDescriptors.class, url, step.name(), stop.toString());
  }

  @ParameterizedTest
  @EnumSource(names = {"SEND", "RECEIVE"})
  void failsAndIsNamedEverywhereIfItGetsNone(Step step, @TempDir Path folder) throws Exception {
    Path stop = Files.createFile(folder.resolve("stop"));
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    try (ForkedJvm rank = start(url, step, stop)) {
      assertThatThrownBy(() -> run(step, 1, url, () -> rank.awaitOutput(USED_UP)))
          .isInstanceOf(PeerFailedException.class)
          .hasMessageContaining("because rank 0 ")
          .hasMessageContaining(LACK)
          .hasMessageContaining("ulimit -n");
      assertThat(rank.exitStatus()).as(rank.output()).isZero();
      assertThat(rank.output().lines())
          .filteredOn(line -> line.startsWith("failed: "))
          .singleElement()
          .asString()
          .contains("rank 0 ")
          .contains(LACK)
          .contains("ulimit -n");
    }
  }
}
