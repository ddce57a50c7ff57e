package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.spi.failure.PublishedFailure;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.PrefixStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.WatchableStore;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Tests which of several failures counts as the first cause, and which rank is named for it. */
@ExtendWith(LeakCheck.class)
class FirstCauseTest {

  @Test
  void aMessageThatTimesOutBlamesTheRankThatDidNotCall() {
    GroupRuns.run(
        3,
        GroupOptions.defaults(),
        world -> {
          if (world.rank() == 0) {
            Work never =
                world.withTimeout(Duration.ofMillis(100)).recv(Tensor.of(new double[1]), 2, 0);
            assertThatThrownBy(never::await)
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("rank 2");
          } else if (world.rank() == 1) {
            assertThatThrownBy(() -> world.barrier().await())
                .isInstanceOfSatisfying(
                    PeerFailedException.class,
                    failed -> assertThat(failed.failure().rank()).isEqualTo(2));
          } else {
            Eventually.holds(() -> hasFailed(world), () -> "the group does not fail");
          }
          return null;
        });
  }

  /** Returns a view of {@code store} to which the news of a failure does not come. */
  private static WatchableStore withoutNewsOfFailures(WatchableStore store) {
    WatchableStore[] self = new WatchableStore[1];
    self[0] =
        (WatchableStore)
            Proxy.newProxyInstance(
                EndOfGroupTest.class.getClassLoader(),
                new Class<?>[] {WatchableStore.class},
                (proxy, method, arguments) -> {
                  String name = method.getName();
                  if (name.equals("withPrefix")) {
                    return PrefixStore.of((String) arguments[0], self[0]);
                  }
                  if (name.equals("watch") && ((String) arguments[0]).endsWith("/failure")) {
                    return new CompletableFuture<byte[]>();
                  }
                  try {
                    Object result = method.invoke(store, arguments);
                    return result instanceof WatchableStore view
                        ? withoutNewsOfFailures(view)
                        : result;
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    return self[0];
  }

  private static void waitInVainForRank2(ProcessGroup world) {
    Work never = world.withTimeout(Duration.ofMillis(50)).recv(Tensor.of(new double[1]), 2, 0);
    assertThatThrownBy(never::await).isInstanceOf(CollectiveTimeoutException.class);
  }

  /** Waits on a rank that learns no more than that another has left. */
  private static void expectTimeoutOfRank2(ProcessGroup world, CountDownLatch noticed) {
    try {
      assertThatThrownBy(() -> world.barrier().await())
          .isInstanceOfSatisfying(
              PeerFailedException.class,
              failed -> {
                assertThat(failed.failure().rank()).isEqualTo(2);
                assertThat(failed.failure().kind()).isEqualTo(Failure.Kind.TIMEOUT);
              });
    } finally {
      noticed.countDown();
    }
  }

  @Test
  void aRankThatLeavesAGroupThatHasFailedIsNotTheCause() {
    CountDownLatch noticed = new CountDownLatch(1);
    try (HashStore hash = new HashStore()) {
      RankThreads.run(
          3,
          rank -> {
            Store store = rank == 1 ? withoutNewsOfFailures(hash) : hash;
            try (ProcessGroup world =
                ProcessGroups.create(store, rank, 3, GroupOptions.defaults())) {
              if (rank == 0) {
                waitInVainForRank2(world);
              } else if (rank == 1) {
                expectTimeoutOfRank2(world, noticed);
              } else {
                noticed.await();
              }
            }
            return null;
          });
    }
  }

  /** Checks that the late rank stays the cause, though it then leaves, as it must. */
  @Test
  void aRankThatIsLateAndLeavesWhenTheGroupHasFailedWasLate() {
    CountDownLatch noticed = new CountDownLatch(1);
    try (HashStore hash = new HashStore()) {
      RankThreads.run(
          3,
          rank -> {
            Store store = rank == 1 ? withoutNewsOfFailures(hash) : hash;
            try (ProcessGroup world =
                ProcessGroups.create(store, rank, 3, GroupOptions.defaults())) {
              if (rank == 0) {
                waitInVainForRank2(world);
                noticed.await();
                Failure failure = new PublishedFailure(hash.withPrefix(world.name())).read();
                assertThat(failure.kind()).isEqualTo(Failure.Kind.TIMEOUT);
              } else if (rank == 1) {
                expectTimeoutOfRank2(world, noticed);
              } else {
                Eventually.holds(() -> hasFailed(world), () -> "the group does not fail");
              }
            }
            return null;
          });
    }
  }

  @Test
  void whatATaskThrowsInAGroupThatHasFailedIsNotTheCause() {
    CountDownLatch closed = new CountDownLatch(1);
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          3,
          rank -> {
            try (ProcessGroup world =
                ProcessGroups.create(store, rank, 3, GroupOptions.defaults())) {
              if (rank == 0) {
                Eventually.holds(() -> hasFailed(world), () -> "the group does not fail");
                world.abort(new IllegalStateException("what comes of it"));
              } else if (rank == 1) {
                assertThatThrownBy(() -> world.barrier().await())
                    .isInstanceOf(PeerFailedException.class);
                closed.await();
                Failure failure = new PublishedFailure(store.withPrefix(world.name())).read();
                assertThat(failure.kind()).isEqualTo(Failure.Kind.PEER_FINISHED);
                assertThat(failure.rank()).isEqualTo(2);
              }
            }
            if (rank == 0) {
              closed.countDown();
            }
            return null;
          });
    }
  }

  private static boolean hasFailed(ProcessGroup group) {
    try {
      group.allocate(DType.INT8, 1);
      return false;
    } catch (CollectiveException e) {
      return true;
    }
  }
}
