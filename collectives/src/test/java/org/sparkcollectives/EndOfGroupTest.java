package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Tests ranks whose peers leave, also when the news of that is delayed or lost. */
@ExtendWith(LeakCheck.class)
class EndOfGroupTest {

  private static final GroupOptions TCP = GroupOptions.defaults().withTransports("tcp");

  @Test
  void whatWasSentArrivesThoughItsSenderLeavesAtOnce() {
    int count = 16_000; // About one segment.
    AtomicInteger sent = new AtomicInteger();
    CountDownLatch full = new CountDownLatch(1);
    GroupRuns.run(
        2,
        TCP,
        HostedRank::inNode,
        world -> {
          double[] data = new double[count];
          world.broadcast(Tensor.of(data), 0).await();
          if (world.rank() == 0) {
            Work last;
            do {
              double[] next = new double[count];
              Arrays.fill(next, sent.incrementAndGet());
              last = world.broadcast(Tensor.of(next), 0);
            } while (last.await(Duration.ofMillis(300)));
            full.countDown();
          } else {
            full.await();
            for (int i = 1; i <= sent.get(); i++) {
              world.broadcast(Tensor.of(data), 0).await();
              assertThat(data[count - 1]).isEqualTo(i);
            }
          }
          return null;
        });
  }

  @Test
  void aPeerThatLeavesIsNoticedThoughTheStoreIsLost() {
    CountDownLatch storeLost = new CountDownLatch(1);
    try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0)) {
      Runnable loseStore = server::close;
      RankThreads.run(
          2,
          rank -> {
            try (Store store =
                    TcpStore.connect("127.0.0.1", server.port(), Duration.ofSeconds(20));
                ProcessGroup world =
                    HostedGroups.create(store, rank, 2, TCP, HostedRank.inNode(rank))) {
              world.allReduce(Tensor.of(1.0), ReduceOp.SUM).await();
              if (rank == 0) {
                loseStore.run();
                storeLost.countDown();
                assertThatThrownBy(() -> world.allReduce(Tensor.of(1.0), ReduceOp.SUM).await())
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessageContaining("rank 1")
                    .hasMessageContaining("has finished");
              } else {
                storeLost.await();
              }
            }
            return null;
          });
    }
  }

  /**
   * Returns a view of {@code store} that cannot be watched, and that calls {@code onWait} before
   * waits.
   */
  private static Store unwatchable(Store store, Consumer<Collection<?>> onWait) {
    return (Store)
        Proxy.newProxyInstance(
            EndOfGroupTest.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("waitFor")) {
                onWait.accept((Collection<?>) arguments[0]);
              }
              try {
                Object result = method.invoke(store, arguments);
                return result instanceof Store view ? unwatchable(view, onWait) : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void anAbortCountsWhileTheRanksAreAskedWhoIsLate() {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch aborted = new CountDownLatch(1);
    Consumer<Collection<?>> onWait =
        keys -> {
          if (keys.toString().contains("progress/answer")) {
            asked.countDown();
            // However busy the machine is, the answers come after the abort.
            Eventually.holds(() -> aborted.getCount() == 0, () -> "nobody aborts");
          }
        };
    try (HashStore hash = new HashStore()) {
      Store store = unwatchable(hash, onWait);
      RankThreads.run(
          2,
          rank -> {
            try (ProcessGroup world = ProcessGroups.create(store, rank, 2, TCP)) {
              if (rank == 0) {
                Work late =
                    world
                        .withTimeout(Duration.ofMillis(50))
                        .allReduce(Tensor.of(1.0), ReduceOp.SUM);
                asked.await();
                world.abort(new IllegalStateException("I want no more"));
                aborted.countDown();
                assertThatThrownBy(late::await)
                    .isInstanceOf(GroupAbortedException.class)
                    .hasMessageContaining("I want no more");
              } else {
                aborted.await();
                assertThatThrownBy(
                        () -> {
                          world.allReduce(Tensor.of(1.0), ReduceOp.SUM).await();
                          world.barrier().await();
                        })
                    .isInstanceOf(CollectiveException.class)
                    .hasMessageContaining("I want no more");
              }
            }
            return null;
          });
    }
  }

  /** Returns a host that answers the watchdog once with an error. */
  private static RankContext answeringOnceWithAnError() {
    AtomicBoolean thrown = new AtomicBoolean();
    RankContext process = RankContext.process();
    return (RankContext)
        Proxy.newProxyInstance(
            EndOfGroupTest.class.getClassLoader(),
            new Class<?>[] {RankContext.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("isKilled")
                  && Thread.currentThread().getName().contains("watchdog")
                  && thrown.compareAndSet(false, true)) {
                throw new NoClassDefFoundError("once");
              }
              return method.invoke(process, arguments);
            });
  }

  @Test
  void deadlinesAreKeptAfterAnErrorInTheWatchdog() {
    GroupRuns.run(
        2,
        GroupOptions.defaults(),
        answeringOnceWithAnError(),
        world -> {
          Work never =
              world
                  .withTimeout(Duration.ofMillis(200))
                  .recv(Tensor.of(new double[1]), 1 - world.rank(), 0);
          Eventually.holds(never::isCompleted, () -> "the deadline is not kept");
          assertThat(never.exception()).isInstanceOf(CollectiveException.class);
          return null;
        });
  }

  @Test
  void manyGroupsMadeFromAGroupLeaveNoKeys() {
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          2,
          rank -> {
            try (ProcessGroup world =
                ProcessGroups.create(store, rank, 2, GroupOptions.defaults())) {
              world.barrier().await();
              long before = store.numKeys();
              for (int i = 0; i < 20; i++) {
                world.newGroup().close();
              }
              world.barrier().await();
              assertThat(store.numKeys()).isLessThanOrEqualTo(before + 2);
              world.barrier().await();
            }
            return null;
          });
    }
  }

  @Test
  void aGroupThatCannotBeMadeLeavesNothingAndTheOtherGoesOn() {
    GroupRuns.run(
        2,
        GroupOptions.defaults(),
        world -> {
          assertThatThrownBy(() -> world.newGroup(GroupOptions.defaults().withBackend("bogus")))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("bogus");
          int[] sum = {1};
          world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
          assertThat(sum[0]).isEqualTo(2);
          return null;
        });
  }

  @Test
  void aDeadlineIsKeptThoughTheStoreIsClosedAlready() {
    HashStore store = new HashStore();
    CountDownLatch over = new CountDownLatch(1);
    GroupRuns.run(
        store,
        2,
        GroupOptions.defaults(),
        rank -> RankContext.process(),
        world -> {
          world.barrier().await();
          if (world.rank() == 0) {
            store.close();
            assertThatThrownBy(() -> world.withTimeout(Duration.ofMillis(300)).barrier().await())
                .isInstanceOf(CollectiveTimeoutException.class);
            over.countDown();
          } else {
            over.await();
          }
          return null;
        });
  }
}
