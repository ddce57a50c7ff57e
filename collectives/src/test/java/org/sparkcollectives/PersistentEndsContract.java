package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Phaser;
import org.junit.jupiter.api.Test;

/** Specifies how persistent collectives fail: as plain calls do. */
interface PersistentEndsContract extends RanksUnderTest {

  @Test
  default void startsInAnotherOrderFailAllRanksAndAreNamed() {
    Phaser left = new Phaser(3);
    ranks(
        3,
        group -> {
          Tensor tensor = Tensor.of(1f, 2f, 3f);
          PersistentCollective sum = group.allReduceInit(tensor);
          PersistentCollective sent = group.broadcastInit(tensor, 0);
          sum.start().await();
          // A rank may leave the all-reduce while another is still in it, and would fail it.
          left.arriveAndAwaitAdvance();
          assertThatThrownBy(() -> (group.rank() == 1 ? sent : sum).start().await())
              .isInstanceOf(CollectiveMismatchException.class)
              .hasMessageContaining("broadcast #1")
              .hasMessageContaining("all-reduce #1");
          assertThatThrownBy(sum::start).isInstanceOf(CollectiveMismatchException.class);
          return null;
        });
  }

  @Test
  default void tensorsOfDifferentSizesFailAllRanksThoughEachIsPrepared() {
    ranks(
        2,
        group -> {
          PersistentCollective sum =
              group.allReduceInit(Tensor.allocate(DType.FLOAT32, group.rank() == 0 ? 100 : 200));
          assertThatThrownBy(() -> sum.start().await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("100")
              .hasMessageContaining("200");
          return null;
        });
  }

  @Test
  default void anAbortEndsTheStartUnderWayAndRefusesTheNext() {
    Phaser left = new Phaser(3);
    ranks(
        3,
        group -> {
          PersistentCollective sum = group.allReduceInit(Tensor.of(1f));
          sum.start().await();
          // A rank may leave the all-reduce while another is still in it, and would be aborted.
          left.arriveAndAwaitAdvance();
          if (group.rank() == 2) {
            group.abort(new IllegalStateException("the data is wrong"));
            assertThatThrownBy(sum::start)
                .isInstanceOf(GroupAbortedException.class)
                .hasRootCauseMessage("the data is wrong");
          } else {
            assertThatThrownBy(() -> sum.start().await())
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("rank 2")
                .hasMessageContaining("the data is wrong");
            assertThatThrownBy(sum::start)
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("the data is wrong");
          }
          sum.close();
          return null;
        });
  }

  @Test
  default void eachStartHasADeadline() {
    ranks(
        2,
        group -> {
          PersistentCollective sum =
              group.withTimeout(Duration.ofMillis(300)).allReduceInit(Tensor.of(1f));
          if (group.rank() == 0) {
            assertThatThrownBy(() -> sum.start().await())
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("all-reduce #0 (float32 x 1, SUM)");
          } else {
            assertThatThrownBy(() -> group.store().get("never"))
                .hasStackTraceContaining("all-reduce #0");
          }
          return null;
        });
  }

  @Test
  default void aClosedGroupStartsNothing() {
    for (ProcessGroup closed :
        ranks(
            2,
            group -> {
              PersistentCollective sum = group.allReduceInit(Tensor.of(1f));
              sum.start().await();
              group.close();
              assertThatIllegalStateException()
                  .isThrownBy(sum::start)
                  .withMessageContaining("is closed on rank " + group.rank());
              assertThatIllegalStateException()
                  .isThrownBy(() -> group.allReduceInit(Tensor.of(1f)))
                  .withMessageContaining("is closed on rank " + group.rank());
              sum.close();
              return group;
            })) {
      assertThat(closed.isFailed()).isFalse();
    }
  }

  @Test
  default void memoryThatWasFreedMeanwhileFailsTheStartAsItFailsThePlainCall() {
    for (boolean persistent : new boolean[] {false, true}) {
      ranks(
          2,
          group -> {
            SharedMemory memory = sharedMemory(group);
            if (memory == null) {
              return null;
            }
            Tensor tensor = memory.tensor(DType.INT32, 0, 10);
            PersistentCollective sum = group.allReduceInit(tensor);
            sum.start().await();
            group.store().barrier("all have left it", 2, Duration.ofSeconds(60));
            if (group.rank() == 1) {
              memory.close();
            }
            assertThatThrownBy(() -> (persistent ? sum.start() : group.allReduce(tensor)).await())
                .isInstanceOf(CollectiveException.class)
                .hasStackTraceContaining("The memory of this tensor was closed");
            return null;
          });
    }
  }

  /** Returns memory that can be freed before the group; null where the ranks have none. */
  private static SharedMemory sharedMemory(ProcessGroup group) {
    try {
      return group.allocateShared(40);
    } catch (IOException e) {
      return null;
    }
  }
}
