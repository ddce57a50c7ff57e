package org.sparkcollectives.symmetric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.DType;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests the memory that the ranks of a host share, with ranks that are threads. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@EnabledOnOs(OS.LINUX)
@ParameterizedClass(name = "{0}")
@EnumSource(
    value = Paths.class,
    names = {"HEAP", "SHM", "MIXED"})
class SymmetricMemoryTest {

  @Parameter private Paths paths;

  private <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, paths, body);
  }

  private static long value(Tensor tensor) {
    long[] value = new long[1];
    tensor.copyTo(value);
    return value[0];
  }

  @Test
  void whatARankWritesBeforeItsSignalIsReadAfterIt() {
    ranks(
        3,
        group -> {
          int next = (group.rank() + 1) % 3;
          int previous = (group.rank() + 2) % 3;
          try (SymmetricMemory memory = SymmetricMemory.create(group, 64)) {
            Tensor there = memory.buffer(next, DType.INT64, 8, 1);
            Tensor here = memory.buffer(group.rank(), DType.INT64, 8, 1);
            for (long round = 1; round <= 500; round++) {
              there.copyFrom(new long[] {round * 10 + group.rank()});
              memory.putSignal(next, 3);
              memory.waitSignal(previous, 3);
              assertThat(value(here)).isEqualTo(round * 10 + previous);
              // The buffer may be written again.
              memory.putSignal(previous, 4);
              memory.waitSignal(next, 4);
            }
          }
          return null;
        });
  }

  @Test
  void nobodyLeavesABarrierBeforeAllHaveCome() {
    ranks(
        4,
        group -> {
          try (SymmetricMemory memory = SymmetricMemory.create(group, 8, 2)) {
            Tensor own = memory.buffer(group.rank(), DType.INT64, 0, 1);
            for (long round = 1; round <= 300; round++) {
              own.copyFrom(new long[] {round});
              memory.barrier((int) round % 2);
              for (int rank = 0; rank < 4; rank++) {
                assertThat(value(memory.buffer(rank, DType.INT64, 0, 1)))
                    .isBetween(round, round + 1);
              }
              memory.barrier((int) round % 2);
            }
          }
          return null;
        });
  }

  @Test
  void tensorsArePutIntoBuffersAndTakenFromThem() {
    ranks(
        2,
        group -> {
          int other = 1 - group.rank();
          try (SymmetricMemory memory = SymmetricMemory.create(group, 1 << 20)) {
            assertThat(memory.bytes()).isEqualTo(1 << 20);
            assertThat(memory.channels()).isEqualTo(SymmetricMemory.CHANNELS);
            float[] zeros = new float[4];
            memory.get(Tensor.of(zeros), other, (1 << 20) - 16).await();
            assertThat(zeros).containsOnly(0);
            memory.barrier(0);
            Tensor sent = Tensor.of(1f + group.rank(), 2f, 3f, 4f);
            assertThat(memory.put(sent, other, (1 << 20) - 16).isSuccess()).isTrue();
            memory.barrier(0);
            float[] found = new float[4];
            memory.get(Tensor.of(found), other, (1 << 20) - 16).await();
            assertThat(found).containsExactly(1f + group.rank(), 2, 3, 4);
            memory.get(Tensor.of(found), group.rank(), (1 << 20) - 16).await();
            assertThat(found).containsExactly(1f + other, 2, 3, 4);
            memory.barrier(0);
          }
          return null;
        });
  }

  @Test
  void collectivesWorkOnItsBuffers() {
    ranks(
        3,
        group -> {
          try (SymmetricMemory memory = SymmetricMemory.create(group, 400_000)) {
            Tensor own = memory.buffer(group.rank(), DType.INT32, 0, 100_000);
            int[] values = new int[100_000];
            java.util.Arrays.fill(values, group.rank());
            own.copyFrom(values);
            group.allReduce(own, ReduceOp.SUM).await();
            memory.buffer((group.rank() + 1) % 3, DType.INT32, 0, 100_000).copyTo(values);
            assertThat(values).containsOnly(3);
            memory.barrier(1);
          }
          return null;
        });
  }

  @Test
  void aSecondSignalWaitsUntilTheFirstIsTaken() {
    ranks(
        2,
        group -> {
          try (SymmetricMemory memory = SymmetricMemory.create(group, 0)) {
            if (group.rank() == 0) {
              memory.putSignal(1, 0);
              CompletableFuture<Void> second =
                  CompletableFuture.runAsync(() -> memory.putSignal(1, 0));
              group.barrier().await();
              assertThat(second).isNotDone();
              group.barrier().await();
              second.join();
              // Another channel is apart.
              memory.putSignal(1, 1);
            } else {
              group.barrier().await();
              group.barrier().await();
              memory.waitSignal(0, 0);
              memory.waitSignal(0, 0);
              memory.waitSignal(0, 1);
            }
            // A signal to oneself.
            memory.putSignal(group.rank(), 2);
            memory.waitSignal(group.rank(), 2);
            memory.barrier(0);
          }
          return null;
        });
  }

  @Test
  void aWaitEndsWithTheTimeoutAndNamesWhoIsMissing() {
    ranks(
        3,
        group -> {
          try (SymmetricMemory memory = SymmetricMemory.create(group, 8)) {
            if (group.rank() == 2) {
              assertThatThrownBy(() -> group.recv(Tensor.of(0), 0).await())
                  .isInstanceOf(CollectiveException.class);
            } else {
              assertThatThrownBy(() -> memory.barrier(5, Duration.ofMillis(300)))
                  .isInstanceOf(CollectiveException.class)
                  .hasMessageContaining("barrier on channel 5 of the symmetric memory of group")
                  .satisfies(
                      e -> {
                        if (e instanceof CollectiveTimeoutException timeout) {
                          assertThat(timeout.missingRanks()).containsExactly(2);
                          assertThat(e).hasMessageContaining("within PT0.3S");
                        }
                      });
            }
          }
          return null;
        });
  }

  @Test
  void anAbortWakesWhoWaits() {
    ranks(
        3,
        group -> {
          try (SymmetricMemory memory = SymmetricMemory.create(group, 8)) {
            if (group.rank() == 1) {
              memory.waitSignal(0, 1);
              memory.waitSignal(2, 1);
              group.abort(new IllegalStateException("enough"));
            } else {
              memory.putSignal(1, 1);
              assertThatThrownBy(() -> memory.waitSignal(group.rank() == 0 ? 2 : 0, 0))
                  .isInstanceOf(PeerFailedException.class)
                  .hasMessageContaining("wait for a signal of rank")
                  .hasMessageContaining("enough");
            }
          }
          return null;
        });
  }

  @Test
  void anInterruptEndsTheWaitAndTheGroup() {
    ranks(
        2,
        group -> {
          try (SymmetricMemory memory = SymmetricMemory.create(group, 8)) {
            if (group.rank() == 0) {
              memory.waitSignal(1, 1);
              Thread.currentThread().interrupt();
              assertThatThrownBy(() -> memory.waitSignal(1, 0))
                  .isInstanceOf(CollectiveException.class)
                  .hasMessageContaining("was interrupted");
              assertThat(Thread.interrupted()).isTrue();
            } else {
              memory.putSignal(0, 1);
              assertThatThrownBy(() -> memory.waitSignal(0, 0))
                  .isInstanceOf(PeerFailedException.class);
            }
          }
          return null;
        });
  }

  @Test
  void aRankThatHasClosedItsMemoryIsNamedAndTheGroupGoesOn() {
    ranks(
        2,
        group -> {
          SymmetricMemory memory = SymmetricMemory.create(group, 8);
          Tensor there = memory.buffer(1 - group.rank(), DType.INT64, 0, 1);
          if (group.rank() == 0) {
            // Its last signal still arrives.
            memory.putSignal(1, 0);
            memory.close();
            memory.close();
            assertThatThrownBy(() -> memory.barrier(0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the memory is closed");
            assertThatThrownBy(() -> memory.buffer(0, DType.INT64, 0, 1))
                .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> value(there)).isInstanceOf(IllegalStateException.class);
          } else {
            memory.waitSignal(0, 0);
            assertThatThrownBy(() -> memory.waitSignal(0, 0))
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("rank 0 has closed its memory");
            there.copyFrom(new long[] {1});
            memory.close();
          }
          group.barrier().await();
          return null;
        });
  }

  @Test
  void closingWakesTheThreadsOfTheSameRank() {
    ranks(
        2,
        group -> {
          SymmetricMemory memory = SymmetricMemory.create(group, 8);
          CompletableFuture<Void> wait =
              CompletableFuture.runAsync(() -> memory.waitSignal(1 - group.rank(), 0));
          group.barrier().await();
          memory.close();
          assertThatThrownBy(wait::join)
              .satisfiesAnyOf(
                  e -> assertThat(e).hasCauseInstanceOf(IllegalStateException.class),
                  e -> assertThat(e).hasMessageContaining("has closed its memory"));
          group.barrier().await();
          return null;
        });
  }

  @Test
  void withoutSharedMemoryAllRanksThrowAndTheGroupGoesOn() {
    GroupRuns.run(
        2,
        Paths.TCP,
        group -> {
          assertThatThrownBy(() -> SymmetricMemory.create(group, 8))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("making of symmetric memory of group")
              .hasMessageContaining("on rank " + group.rank() + " of 2: there is no shared memory");
          group.barrier().await();
          return null;
        });
  }

  @Test
  void wrongArgumentsAreRefused() {
    ranks(
        2,
        group -> {
          int rank = group.rank();
          for (long[] wrong :
              new long[][] {{-1, 1}, {1, 0}, {1L << 31, 1}, {1, Integer.MAX_VALUE}}) {
            // On one rank only, but all of them throw.
            assertThatThrownBy(
                    () ->
                        SymmetricMemory.create(
                            group, rank == 1 ? wrong[0] : 8, rank == 1 ? (int) wrong[1] : 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                    "on rank "
                        + rank
                        + " of 2: "
                        + (rank == 1 ? "" : "rank 1 refused its arguments: ")
                        + wrong[0]
                        + " bytes and "
                        + wrong[1]
                        + " channels; give 0 to ");
          }
          assertThatThrownBy(() -> SymmetricMemory.create(group, 8 + rank))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(
                  "rank 0 gives 8 bytes and 16 channels, and rank 1 gives 9 bytes");
          try (SymmetricMemory memory = SymmetricMemory.create(group, 24)) {
            for (long[] wrong : new long[][] {{-8, 1}, {4, 1}, {24, 1}, {0, 4}, {0, -1}}) {
              assertThatThrownBy(() -> memory.buffer(1, DType.INT64, wrong[0], wrong[1]))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("not within the 24 bytes of rank 1");
            }
            assertThatThrownBy(() -> memory.put(Tensor.of(1L, 2L, 3L, 4L), 1, 0))
                .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> memory.buffer(2, DType.INT8, 0, 1))
                .hasMessageContaining("there is no rank 2, only 0 to 1");
            assertThatThrownBy(() -> memory.putSignal(-1, 0)).hasMessageContaining("no rank -1");
            assertThatThrownBy(() -> memory.waitSignal(0, SymmetricMemory.CHANNELS))
                .hasMessageContaining("there is no channel 16, only 0 to 15");
            assertThatThrownBy(() -> memory.barrier(-1)).hasMessageContaining("no channel -1");
            memory.barrier(0);
          }
          return null;
        });
  }
}
