package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests that memory which a group has mapped is unmapped when it is closed, not at some garbage
 * collection.
 */
@ExtendWith(LeakCheck.class)
@EnabledOnOs(OS.LINUX)
class SharedMappingsTest {

  /** The folder in which this test alone shares memory. */
  private Path folder;

  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createTempDirectory(Path.of("/dev/shm"), "shared-mappings-test-");
  }

  @AfterEach
  void removeFolder() throws IOException {
    Files.delete(folder);
  }

  private List<String> mapped() {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains(folder.toString())).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> open() throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      for (Path each : descriptors.toList()) {
        try {
          found.add(Files.readSymbolicLink(each).toString());
        } catch (IOException e) {
          // The mapping was closed after it was listed.
        }
      }
    }
    return found.stream().filter(target -> target.contains(folder.toString())).toList();
  }

  @Test
  void nothingStaysMappedAfterManyGroups() throws IOException {
    List<Tensor> kept = Collections.synchronizedList(new ArrayList<>());
    for (int round = 0; round < 10; round++) {
      List<Tensor> tensors =
          GroupRuns.run(
              2,
              GroupOptions.defaults().withTransports("shm", "tcp"),
              rank -> HostedRank.inNode(rank, "spark.collectives.shm.folder=" + folder),
              world -> {
                Tensor large = world.allocate(DType.INT32, 200_000);
                world.allReduce(large, ReduceOp.SUM).await();
                world.reduce(large, ReduceOp.SUM, 0).await();
                world.allReduce(Tensor.of(new int[200_000]), ReduceOp.SUM).await();
                world.barrier().await();
                SharedMemory memory = world.allocateShared(100_000);
                Tensor shared = memory.tensor(DType.INT32, 0, 20_000);
                world.broadcast(shared, 1).await();
                assertThat(mapped()).isNotEmpty();
                kept.add(shared);
                return large;
              });
      kept.addAll(tensors);
    }
    assertThat(mapped()).isEmpty();
    assertThat(open()).isEmpty();
    for (Tensor each : kept) {
      assertThatThrownBy(() -> each.copyTo(new int[(int) each.count()]))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
  }

  @Test
  void memoryThatIsClosedBeforeItsGroupIsUnmappedAtOnce() {
    GroupRuns.run(
        1,
        GroupOptions.defaults(),
        rank -> HostedRank.inNode(rank, "spark.collectives.shm.folder=" + folder),
        world -> {
          for (int i = 0; i < 5; i++) {
            SharedMemory memory = world.allocateShared(1_000);
            Tensor tensor = memory.tensor(DType.INT32, 0, 10);
            assertThat(mapped()).hasSize(1);
            memory.close();
            assertThat(mapped()).isEmpty();
            assertThatThrownBy(() -> tensor.copyFrom(new int[10]))
                .isInstanceOf(IllegalStateException.class);
          }
          world.allocateShared(1_000);
          return null;
        });
    assertThat(mapped()).isEmpty();
  }

  @Test
  void memoryThatItsRankHasClosedIsNotKeptByTheOthers() {
    GroupRuns.run(
        2,
        GroupOptions.defaults().withTransports("shm", "tcp"),
        rank -> HostedRank.inNode(rank, "spark.collectives.shm.folder=" + folder),
        world -> {
          int before = 0;
          for (int i = 0; i < 20; i++) {
            SharedMemory memory = world.allocateShared(400_000);
            world.allReduce(memory.tensor(DType.INT32, 0, 100_000), ReduceOp.SUM).await();
            memory.close();
            world.barrier().await();
            if (i == 3) {
              before = mapped().size();
            }
          }
          // Both ranks are in this process, and one may be an operation ahead.
          assertThat(mapped().size()).isLessThanOrEqualTo(before + 4);
          world.barrier().await();
          return null;
        });
    assertThat(mapped()).isEmpty();
  }
}
