package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.internal.transport.shm.SharedFileMemory;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;

/** Tests memory that processes of one host share: which ranks get it, and what remains of it. */
@ExtendWith(LeakCheck.class)
@EnabledOnOs(OS.LINUX)
class SharedMemoryTest {

  private static final Path SHM = Path.of("/dev/shm");

  /** The folder in which this test's processes alone share memory. */
  private Path folder;

  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createTempDirectory(SHM, "shared-memory-test-");
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

  /** Returns a host with a node for each rank, as if in two processes. */
  private static RankContext ownNode(int rank, String folder) {
    return HostedRank.inNode(rank, "spark.collectives.shm.folder=" + folder);
  }

  /** A rank in a process: reduces repeatedly. */
  static final class ReducingRank {

    private ReducingRank() {}

    public static void main(String[] args) {
      int rank = Integer.parseInt(args[0]);
      System.setProperty(CollectivesConfiguration.SHM_FOLDER.key(), args[2]);
      GroupOptions options = GroupOptions.defaults().withTransports("shm", "tcp");
      try (ProcessGroup world = Rendezvous.join(args[1], rank, 3, options)) {
        Tensor shared = world.allocate(DType.INT64, 40_001);
        for (int i = 0; args.length > 3 || i < 50; i++) {
          long[] sum = new long[20_000 * (i % 3) + 1];
          java.util.Arrays.fill(sum, rank + 1);
          if (i % 2 == 0) {
            world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
          } else {
            Tensor part = shared.slice(0, sum.length);
            part.copyFrom(sum);
            world.allReduce(part, ReduceOp.SUM).await();
            part.copyTo(sum);
          }
          if (sum[sum.length - 1] != 6) {
            throw new IllegalStateException("sum " + sum[sum.length - 1]);
          }
          if (i == 20) {
            System.out.println("reduced");
          }
        }
      } catch (PeerFailedException e) {
        System.out.println("failed, because rank " + e.failure().rank());
        throw e;
      }
    }
  }

  @Test
  void processesReduceThroughMemoryThatHasNoName() throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    try (RankProcesses ranks = RankProcesses.start(ReducingRank.class, 3, url, folder.toString())) {
      for (int rank = 0; rank < 3; rank++) {
        assertThat(ranks.exitStatus(rank)).as(ranks.output(rank)).isZero();
        assertThat(ranks.output(rank)).contains("reduced").doesNotContain("over TCP");
      }
    }
    assertThat(left()).isEmpty();
  }

  @Test
  void aKilledProcessIsNamedAndLeavesNoFile() throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    try (RankProcesses ranks =
        RankProcesses.start(ReducingRank.class, 3, url, folder.toString(), "for ever")) {
      for (int rank = 0; rank < 3; rank++) {
        ranks.awaitOutput(rank, "reduced");
      }
      ranks.kill(1);
      assertThat(ranks.exitStatus(0)).isNotZero();
      assertThat(ranks.exitStatus(2)).isNotZero();
      assertThat(ranks.output(0)).contains("failed, because rank 1");
      assertThat(ranks.output(2)).contains("failed, because rank 1");
    }
    assertThat(left()).isEmpty();
  }

  @Test
  void tensorsOfTheGroupAreReducedWhereTheyLie() {
    int count = 100_003;
    GroupRuns.run(
        3,
        GroupOptions.defaults().withTransports("shm", "tcp"),
        rank -> ownNode(rank, "/dev/shm"),
        world -> {
          int rank = world.rank();
          Tensor tensor = world.allocate(DType.FLOAT32, count);
          assertThat(tensor.array()).isNull();
          for (int round = 0; round < 5; round++) {
            float[] own = new float[count];
            java.util.Arrays.fill(own, rank + round);
            tensor.copyFrom(own);
            world.allReduce(tensor, ReduceOp.SUM).await();
            tensor.copyTo(own);
            assertThat(own[count - 1]).isEqualTo(3 + 3 * round);
            world.reduce(tensor.slice(1, count - 1), ReduceOp.MAX, 2).await();
            world.broadcast(tensor, round % 3).await();
            tensor.copyTo(own);
            assertThat(own[0]).isEqualTo(3 + 3 * round);
            // One rank's tensor is not in shared memory, so all ranks take another path together.
            Tensor mine = rank == 1 ? Tensor.of(own) : tensor;
            world.allReduce(mine, ReduceOp.AVG).await();
            float[] result = new float[count];
            mine.copyTo(result);
            assertThat(result[count / 2]).isEqualTo(3 + 3 * round);
            java.util.Arrays.fill(own, 2);
            tensor.copyFrom(own);
            world.allReduce(tensor, ReduceOp.premulSum(rank + 1)).await();
            tensor.copyTo(own);
            assertThat(own).containsOnly(12);
          }
          Tensor all = world.allocate(DType.INT64, 3 * 9_000);
          Tensor part = world.allocate(DType.INT64, 9_000);
          part.copyFrom(longs(9_000, rank));
          world.allGather(all, part).await();
          world.reduceScatter(part, all, ReduceOp.SUM).await();
          long[] sum = new long[9_000];
          part.copyTo(sum);
          assertThat(sum).containsOnly(3L * rank);
          Tensor other = world.allocate(DType.INT64, 3 * 9_000);
          world.allToAll(other, all).await();
          long[] exchanged = new long[3 * 9_000];
          other.copyTo(exchanged);
          assertThat(exchanged).containsOnly(rank);
          return null;
        });
  }

  @Test
  void whoCanMakeNoMemoryIsReachedOverTcpAndTheOthersShareTheirs() {
    List<GroupStatistics.Paths> paths =
        GroupRuns.run(
            3,
            GroupOptions.defaults(),
            rank -> ownNode(rank, rank == 2 ? "/no/such/folder" : folder.toString()),
            world -> {
              for (int count : new int[] {1, 100_000}) {
                Tensor sum = Tensor.of(longs(count, world.rank()));
                world.allReduce(sum, ReduceOp.SUM).await();
                long[] found = new long[count];
                sum.copyTo(found);
                assertThat(found).containsOnly(3);
              }
              return world.statistics().paths();
            });
    assertThat(paths)
        .containsExactly(
            new GroupStatistics.Paths(0, 1, 1),
            new GroupStatistics.Paths(0, 1, 1),
            new GroupStatistics.Paths(0, 0, 2));
  }

  /** Maps the memory as another process does. */
  private static MappedByteBuffer mapped(SharedMemory memory) {
    try (FileChannel file =
        FileChannel.open(
            Path.of(memory.path()), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer nonce = ByteBuffer.allocate(memory.nonce().length);
      file.read(nonce, 0);
      assertThat(nonce.array()).isEqualTo(memory.nonce());
      MappedByteBuffer view =
          file.map(FileChannel.MapMode.READ_WRITE, memory.begin(), memory.bytes());
      view.order(ByteOrder.nativeOrder());
      return view;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static SharedMemory allocateShared(ProcessGroup group, long bytes) {
    try {
      return group.allocateShared(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void whatAnotherProcessHasMappedIsReducedWhereItLies() {
    int count = 50_000;
    GroupRuns.run(
        2,
        GroupOptions.defaults().withTransports("shm", "tcp"),
        rank -> ownNode(rank, folder.toString()),
        world -> {
          // Each memory is made where the one before was, with the same number: neighbours must not
          // mix them up.
          for (int round = 1; round <= 3; round++) {
            SharedMemory memory = allocateShared(world, 128 + count * 4L);
            MappedByteBuffer view = mapped(memory);
            for (int i = 0; i < count; i++) {
              view.putFloat(128 + 4 * i, round * (world.rank() + 1));
            }
            world.allReduce(memory.tensor(DType.FLOAT32, 128, count), ReduceOp.SUM).await();
            assertThat(view.getFloat(128)).isEqualTo(3 * round);
            assertThat(view.getFloat(124 + 4 * count)).isEqualTo(3 * round);
            assertThat(view.getFloat(124)).isZero();
            memory.close();
          }
          return null;
        });
  }

  @Test
  void ranksWithAndWithoutScratchMemoryReduceTogether() {
    // Each rank's part has more than one block.
    int count = 400_001;
    GroupRuns.run(
        3,
        GroupOptions.defaults().withTransports("shm", "tcp"),
        rank -> ownNode(rank, folder.toString()),
        world -> {
          for (int scratch = 0; scratch < 8; scratch++) {
            try (SharedMemory memory = allocateShared(world, count * 4L)) {
              if ((scratch >> world.rank() & 1) == 1) {
                assertThat(memory.asScratch()).isSameAs(memory);
              }
              Tensor tensor = memory.tensor(DType.INT32, 0, count);
              int[] expected = new int[count];
              int[] values = new int[count];
              for (int i = 0; i < count; i++) {
                values[i] = i * (world.rank() + 1);
                expected[i] = i * 6;
              }
              tensor.copyFrom(values);
              world.allReduce(tensor, ReduceOp.SUM).await();
              tensor.copyTo(values);
              assertThat(Arrays.mismatch(values, expected)).as("scratch %s", scratch).isEqualTo(-1);
            }
          }
          return null;
        });
  }

  @Test
  void memoryIsOpenedByItsPathAndStaysWhenItsMakerClosesIt() throws IOException {
    SharedMemory maker;
    SharedMemory other;
    long[] found = new long[1];
    try (SharedMemory made = SharedFileMemory.create(folder, 1000)) {
      maker = made;
      other = SharedMemory.open(made.path(), made.nonce(), 1000);
      made.tensor(DType.INT64, 992, 1).copyFrom(new long[] {7});
      other.tensor(DType.INT64, 992, 1).copyTo(found);
      assertThat(found).containsExactly(7);
      assertThatThrownBy(() -> SharedMemory.open(made.path(), made.nonce(), 999))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is another file here");
      assertThatThrownBy(() -> SharedMemory.open(made.path(), new byte[16], 1000))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> SharedMemory.open(folder.toString(), made.nonce(), 1000))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is no path of shared memory");
    }
    assertThatThrownBy(() -> SharedMemory.open(maker.path(), maker.nonce(), 1000))
        .isInstanceOf(IOException.class);
    found[0] = 0;
    Tensor kept = other.tensor(DType.INT64, 992, 1);
    kept.copyTo(found);
    assertThat(found).containsExactly(7);
    other.close();
    assertThatThrownBy(() -> kept.copyTo(found)).isInstanceOf(IllegalStateException.class);
    assertThat(mapped()).isEmpty();
    assertThat(opened()).isEmpty();
  }

  @Test
  void aGroupThatMayNotShareMemorySaysSo() {
    GroupRuns.run(
        2,
        GroupOptions.defaults().withTransports("tcp"),
        rank -> ownNode(rank, folder.toString()),
        world -> {
          assertThatThrownBy(() -> world.allocateShared(10))
              .isInstanceOf(IOException.class)
              .hasMessageContaining("shm is not among its transports");
          return null;
        });
  }

  @Test
  void ranksInOtherOperationsAreNamedBeforeMemoryIsShared() {
    GroupRuns.run(
        2,
        GroupOptions.defaults().withTransports("shm", "tcp"),
        rank -> ownNode(rank, "/dev/shm"),
        world -> {
          Tensor tensor = world.allocate(DType.FLOAT32, 100_000);
          world.allReduce(tensor, ReduceOp.SUM).await();
          assertThatThrownBy(
                  () -> {
                    if (world.rank() == 0) {
                      world.allReduce(tensor, ReduceOp.SUM).await();
                    } else {
                      world.barrier().await();
                    }
                  })
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("barrier #1")
              .hasMessageContaining("all-reduce #1");
          return null;
        });
  }

  private static long[] longs(int count, long value) {
    long[] longs = new long[count];
    java.util.Arrays.fill(longs, value);
    return longs;
  }

  @Test
  void memoryOnWhichRanksDoNotAgreeIsLetGoOf() {
    GroupRuns.run(
        2,
        GroupOptions.defaults().withTransports("shm", "tcp"),
        rank -> ownNode(rank, folder.toString()),
        world -> {
          if (world.rank() == 0) {
            // The first small operation makes memory for all; rank 1 does not come.
            ProcessGroup hasty = world.withTimeout(Duration.ofMillis(300));
            assertThatThrownBy(() -> hasty.barrier().await())
                .isInstanceOf(CollectiveTimeoutException.class);
          } else {
            assertThatThrownBy(() -> world.recv(Tensor.of(0), 0, 0).await())
                .isInstanceOf(CollectiveException.class);
          }
          return null;
        });
    assertThat(mapped()).isEmpty();
    assertThat(opened()).isEmpty();
  }

  /** Returns the memory in the folder that this process has mapped. */
  private List<String> mapped() {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(each -> each.contains(folder.toString())).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the files in the folder that this process has open. */
  private List<Path> opened() {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors
          .map(SharedMemoryTest::target)
          .filter(each -> each.startsWith(folder))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor);
    } catch (IOException e) {
      // The file was closed after it was listed.
      return descriptor;
    }
  }

  @Test
  void withoutAFolderInMemoryTcpIsUsed() {
    for (String folder : List.of("/no/such/folder", "/proc")) {
      GroupRuns.run(
          2,
          GroupOptions.defaults().withTransports("shm", "tcp"),
          rank -> ownNode(rank, folder),
          world -> {
            int[] sum = new int[100_000];
            sum[99_999] = 1;
            world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
            assertThat(sum[99_999]).isEqualTo(2);
            return null;
          });
    }
  }
}
