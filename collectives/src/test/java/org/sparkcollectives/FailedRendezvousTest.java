package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.failure.FailedRendezvous;
import org.sparkcollectives.store.FileStore;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Tests the rendezvous of a group of which a rank is known not to come. */
@ExtendWith(LeakCheck.class)
class FailedRendezvousTest {

  private static final int SIZE = 4;
  private static final int ABSENT = 1;
  private static final int LATE = 3;
  private static final String GROUP = "world";

  /** A timeout that no rank may have to wait for. */
  private static final Duration LONG = Duration.ofMinutes(5);

  private static final Failure FINISHED =
      new Failure(
          Failure.Kind.PEER_FINISHED,
          new RankLocation(ABSENT, "host-1", "7", 11),
          "",
          -1,
          "its task returned without joining the group");

  @TempDir private Path folder;

  /** The ways in which ranks wait: by a watch, or by polling. */
  private enum Kind {
    HASH {
      @Override
      Store open(Path folder) {
        return new HashStore();
      }
    },
    FILE {
      @Override
      Store open(Path folder) {
        return new FileStore(folder.resolve("store"), 0);
      }
    };

    abstract Store open(Path folder);
  }

  /** The host of a rank that is told to stop when the test wants it. */
  private static final class StoppedRank extends HostedRank {

    private final boolean withOthers;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch asked = new CountDownLatch(1);

    StoppedRank(boolean withOthers) {
      super(List.of(), TransportSecurity.plain());
      this.withOthers = withOthers;
    }

    void stop() {
      stopped.countDown();
    }

    /** Waits until the rank knows that it must stop. */
    void awaitIsAskedWhy() throws InterruptedException {
      assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Override
    public boolean isKilled() {
      return stopped.getCount() == 0;
    }

    @Override
    public boolean isStoppedWithOthers() {
      asked.countDown();
      return withOthers;
    }

    @Override
    public String killReason() {
      return "the stage is over";
    }
  }

  private static ProcessGroup join(Store store, int rank) {
    return join(store, rank, RankContext.process());
  }

  private static ProcessGroup join(Store store, int rank, RankContext context) {
    return HostedGroups.create(
        store.withTimeout(LONG), rank, SIZE, GroupOptions.defaults().withName(GROUP), context);
  }

  private static void assertNamesTheRank(Store store, int rank) {
    PeerFailedException thrown =
        catchThrowableOfType(PeerFailedException.class, () -> join(store, rank).close());
    assertThat(thrown)
        .hasMessageStartingWith("The rendezvous of group \"world\" on rank " + rank)
        .hasMessageContaining(
            "rank 1 (host-1, executor 7, task 11) has finished: its task returned");
    assertThat(thrown.failure()).isEqualTo(FINISHED);
  }

  private static void awaitJoined(Store store, int ranks) throws InterruptedException {
    Store group = store.withPrefix(GROUP);
    while (group.add("rendezvous/joined", 0) < ranks) {
      Thread.sleep(5);
    }
  }

  @ParameterizedTest
  @EnumSource
  void ranksThatWaitNameTheOneThatWillNotComeAndSoDoThoseThatComeLater(Kind kind) {
    try (Store store = kind.open(folder)) {
      RankThreads.run(
          LATE,
          rank -> {
            if (rank == ABSENT) {
              awaitJoined(store, 2);
              assertThat(FailedRendezvous.publish(store.withPrefix(GROUP), FINISHED)).isTrue();
            } else {
              assertNamesTheRank(store, rank);
            }
            return null;
          });
      assertNamesTheRank(store, LATE);
    }
  }

  @Test
  void theFirstFailureCounts() {
    try (Store store = new HashStore()) {
      Store group = store.withPrefix(GROUP);
      assertThat(FailedRendezvous.publish(group, FINISHED)).isTrue();
      Failure later =
          new Failure(
              Failure.Kind.EXCEPTION,
              new RankLocation(0, "host-0", "6", 10),
              "",
              -1,
              "a consequence");
      assertThat(FailedRendezvous.publish(group, later)).isFalse();
      assertNamesTheRank(store, 2);
    }
  }

  @Test
  void aGroupThatIsMadeIsNotFailed() {
    try (Store store = new HashStore()) {
      RankThreads.run(
          SIZE,
          rank -> {
            try (ProcessGroup world = join(store, rank)) {
              assertThat(FailedRendezvous.publish(store.withPrefix(GROUP), FINISHED)).isFalse();
              float[] sum = {1};
              world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
              assertThat(sum).containsExactly(SIZE);
            }
            return null;
          });
    }
  }

  /** Stops a rank as Spark stops the tasks of a barrier stage when one fails. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRankThatIsStoppedWithTheOthersGivesTheFirstCauseTimeToArrive(boolean interrupted)
      throws Exception {
    StoppedRank context = new StoppedRank(true);
    try (Store store = new HashStore()) {
      CompletableFuture<Boolean> wasInterrupted = new CompletableFuture<>();
      Thread rank =
          new Thread(
              () -> {
                try {
                  assertThatThrownBy(() -> join(store, 0, context))
                      .isInstanceOf(PeerFailedException.class)
                      .hasMessageContaining("rank 1 (host-1, executor 7, task 11) has finished");
                  wasInterrupted.complete(Thread.interrupted());
                } catch (Throwable e) {
                  wasInterrupted.completeExceptionally(e);
                }
              });
      rank.start();
      awaitJoined(store, 1);
      context.stop();
      if (interrupted) {
        rank.interrupt();
      }
      context.awaitIsAskedWhy();
      FailedRendezvous.publish(store.withPrefix(GROUP), FINISHED);
      assertThat(wasInterrupted.get(60, TimeUnit.SECONDS)).isEqualTo(interrupted);
    }
  }

  @Test
  void aRankThatIsKilledAloneSaysSo() {
    StoppedRank context = new StoppedRank(false);
    context.stop();
    try (Store store = new HashStore()) {
      assertThatThrownBy(() -> join(store, 0, context))
          .isInstanceOf(GroupAbortedException.class)
          .hasMessageContaining("Rank 0 was killed while it waited")
          .hasMessageContaining("the stage is over");
    }
  }
}
