package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.failure.PublishedFailure;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests what each {@link ErrorHandling} does with an operation that is overdue or fails. */
@ExtendWith(LeakCheck.class)
class ErrorHandlingTest {

  private static final String NAME = "handled";
  private static final Duration SOON = Duration.ofMillis(200);

  /** A call that told a rank's host to end the rank. */
  private record TornDown(int rank, String cause, Duration patience) {}

  private final ConcurrentLinkedQueue<TornDown> tornDown = new ConcurrentLinkedQueue<>();

  private RankContext host(int rank, String... settings) {
    return new HostedRank(List.of(settings), TransportSecurity.plain()) {
      @Override
      public void tearDown(CollectiveException cause, Duration patience) {
        tornDown.add(new TornDown(rank, cause.getMessage(), patience));
      }
    };
  }

  private static GroupOptions options(ErrorHandling mode) {
    return GroupOptions.defaults().withName(NAME).withErrorHandling(mode);
  }

  private static boolean isPublished(HashStore store) {
    return new PublishedFailure(store.withPrefix(NAME)).read() != null;
  }

  private static void exchange(ProcessGroup group, int one, int other) {
    if (group.rank() == one) {
      group.send(Tensor.of(7), other, 1).await();
    } else {
      int[] received = new int[1];
      group.recv(Tensor.of(received), one, 1).await();
      assertThat(received).containsExactly(7);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"heap", "tcp"})
  void withNoneAnOverdueOperationThrowsOnItsOwnRankOnly(String transport) {
    CountDownLatch thrown = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(3);
    try (HashStore store = new HashStore()) {
      GroupRuns.run(
          store,
          3,
          options(ErrorHandling.NONE).withTransports(transport, "tcp"),
          this::host,
          world -> {
            world.barrier().await();
            if (world.rank() == 0) {
              assertThatThrownBy(
                      () -> world.withTimeout(SOON).allReduce(Tensor.of(1), ReduceOp.SUM).await())
                  .isInstanceOf(CollectiveTimeoutException.class)
                  .hasMessageContaining("not arrived: rank 1");
              assertThatThrownBy(() -> world.barrier().await())
                  .as("nobody knows how much was done")
                  .isInstanceOf(CollectiveTimeoutException.class);
              assertThat(isPublished(store)).isFalse();
              thrown.countDown();
            } else {
              thrown.await();
              exchange(world, 1, 2);
            }
            over.countDown();
            over.await();
            return null;
          });
    }
    assertThat(tornDown).isEmpty();
  }

  @Test
  void withNoneAnOperationThatFailsThrowsOnItsOwnRankOnly() {
    CountDownLatch over = new CountDownLatch(3);
    try (HashStore store = new HashStore()) {
      GroupRuns.run(
          store,
          3,
          options(ErrorHandling.NONE).withTransports("tcp"),
          rank -> HostedRank.inNode(rank),
          world -> {
            world.barrier().await();
            if (world.rank() < 2) {
              // Each rank refuses what the other sends it.
              double[] data = new double[world.rank() == 0 ? 10 : 11];
              Work reduced = world.withTimeout(Duration.ofSeconds(2)).broadcast(Tensor.of(data), 0);
              if (world.rank() == 1) {
                assertThatThrownBy(reduced::await).isInstanceOf(CollectiveException.class);
              } else {
                // The root may have returned before it learns of the failure.
                Eventually.holds(reduced::isCompleted, () -> "the broadcast of the root ends");
              }
              assertThat(isPublished(store)).isFalse();
            }
            over.countDown();
            over.await();
            return null;
          });
    }
  }

  @Test
  void withNoneAnAbortStillReachesAllRanks() {
    GroupRuns.run(
        2,
        options(ErrorHandling.NONE),
        world -> {
          if (world.rank() == 0) {
            world.barrier().await();
            world.abort(new IllegalStateException("I want no more"));
          } else {
            assertThatThrownBy(
                    () -> {
                      world.barrier().await();
                      world.barrier().await();
                    })
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("I want no more");
          }
          return null;
        });
  }

  @ParameterizedTest
  @EnumSource(
      mode = Mode.EXCLUDE,
      names = {"NONE"})
  void aRankThatIsLateForAnOperationIsNamedToTheHostsThatAreToEnd(ErrorHandling mode) {
    CountDownLatch failed = new CountDownLatch(2);
    IntFunction<RankContext> hosts = this::host;
    GroupRuns.run(
        3,
        options(mode),
        hosts,
        world -> {
          world.barrier().await();
          if (world.rank() == 1) {
            // This wait is in the rank's own code, outside of the group.
            failed.await();
            Eventually.holds(
                () -> !mode.tearsDown() || tornDown.size() == 3,
                () -> "all hosts are told, but there are " + tornDown);
          } else {
            assertThatThrownBy(
                    () -> world.withTimeout(SOON).allReduce(Tensor.of(1), ReduceOp.SUM).await())
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("rank 1");
            failed.countDown();
          }
          return null;
        });
    if (mode.tearsDown()) {
      assertThat(tornDown).extracting(TornDown::rank).containsExactlyInAnyOrder(0, 1, 2);
      assertThat(tornDown)
          .allSatisfy(each -> assertThat(each.cause()).contains("all-reduce #1", "rank 1"));
      assertThat(tornDown)
          .allSatisfy(
              each ->
                  assertThat(each.patience().isZero())
                      .isEqualTo(mode == ErrorHandling.SKIP_CLEAN_UP));
    } else {
      assertThat(tornDown).isEmpty();
    }
  }

  @Test
  void theModeIsConfiguredAndAGroupMadeFromAnotherHasTheSame() {
    IntFunction<RankContext> hosts =
        rank -> host(rank, "spark.collectives.errorHandling=tear-down");
    // A barrier of the group would not do: the abort may end it on the rank that leaves it last.
    CountDownLatch through = new CountDownLatch(2);
    GroupRuns.run(
        2,
        GroupOptions.defaults(),
        hosts,
        world -> {
          ProcessGroup made = world.newGroup(GroupOptions.defaults());
          made.barrier().await();
          through.countDown();
          through.await();
          if (made.rank() == 0) {
            made.abort(new IllegalStateException("I want no more"));
          }
          Eventually.holds(() -> tornDown.size() == 2, () -> "both are told: " + tornDown);
          world.barrier().await();
          return null;
        });
    assertThat(tornDown)
        .allSatisfy(each -> assertThat(each.cause()).contains("the task of", "I want no more"));
  }

  @Test
  void aPlainProcessGoesOn() {
    CountDownLatch through = new CountDownLatch(2);
    GroupRuns.run(
        2,
        options(ErrorHandling.TEAR_DOWN),
        world -> {
          world.barrier().await();
          through.countDown();
          through.await();
          if (world.rank() == 0) {
            world.abort(new IllegalStateException("I want no more"));
          }
          assertThatThrownBy(
                  () -> {
                    world.barrier().await();
                  })
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("I want no more");
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
          return null;
        });
  }
}
