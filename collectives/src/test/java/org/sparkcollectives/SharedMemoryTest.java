package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.store.net.TransportSecurity;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.transport.shm.SharedFile;

/** Memory that processes of one host share: who gets it, and what is left of it. */
@ExtendWith(LeakCheck.class)
@EnabledOnOs(OS.LINUX)
class SharedMemoryTest {

  private static final Path SHM = Path.of("/dev/shm");

  private static List<Path> left() throws IOException {
    try (Stream<Path> files = Files.list(SHM)) {
      return files.filter(each -> each.toString().contains("spark-collectives")).toList();
    }
  }

  /** Ranks with settings of their own are in nodes of their own, as in two processes. */
  private static RankContext ownNode(int rank, String folder) {
    return new HostedRank(
        List.of(
            "spark.collectives.port.maxRetries=" + (16 + rank),
            "spark.collectives.shm.folder=" + folder),
        TransportSecurity.plain());
  }

  /** A rank in a process: reduces again and again. */
  static final class ReducingRank {

    private ReducingRank() {}

    public static void main(String[] args) {
      int rank = Integer.parseInt(args[0]);
      GroupOptions options = GroupOptions.defaults().withTransports("shm", "tcp");
      try (ProcessGroup world = Rendezvous.join(args[1], rank, 3, options)) {
        for (int i = 0; args.length > 2 || i < 50; i++) {
          long[] sum = new long[20_000 * (i % 3) + 1];
          java.util.Arrays.fill(sum, rank + 1);
          world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
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
    try (RankProcesses ranks = RankProcesses.start(ReducingRank.class, 3, url)) {
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
    try (RankProcesses ranks = RankProcesses.start(ReducingRank.class, 3, url, "for ever")) {
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

  @Test
  void aFileIsSharedOnlyWithWhoKnowsItsProof(@TempDir Path folder) throws Exception {
    try (SharedFile made = SharedFile.create(folder, 1000)) {
      assertThat(folder).isEmptyDirectory();
      SharedFile.open(made.path(), made.nonce(), 1000).close();
      byte[] other = made.nonce();
      other[3]++;
      assertThatThrownBy(() -> SharedFile.open(made.path(), other, 1000))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is another file here");
      assertThatThrownBy(() -> SharedFile.open(made.path(), made.nonce(), 2000))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> SharedFile.open("/proc/1/fd/999999", made.nonce(), 1000))
          .isInstanceOf(IOException.class);
    }
  }
}
