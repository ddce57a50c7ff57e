package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.RendezvousHandler;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Tests groups over a user's own store, which implements the interface and no more. */
@ExtendWith(LeakCheck.class)
class CustomStoreTest {

  private static final AtomicInteger SCHEMES = new AtomicInteger();

  /** Returns a store with the methods of {@link Store}, which cannot watch keys. */
  private static Store plain(Store store) {
    return (Store)
        Proxy.newProxyInstance(
            Store.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (proxy, method, arguments) -> {
              Object result;
              try {
                result = method.invoke(store, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
              return result instanceof Store view ? plain(view) : result;
            });
  }

  @Test
  void ranksMeetAndLearnOfEachOthersFailures() {
    // An abort ends what other ranks are still in.
    CountDownLatch done = new CountDownLatch(3);
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          3,
          rank -> {
            try (ProcessGroup world =
                ProcessGroups.create(plain(store), rank, 3, GroupOptions.defaults())) {
              int[] sum = {1};
              world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
              assertThat(sum).containsExactly(3);
              world.monitoredBarrier(Duration.ofSeconds(30), true);
              try (ProcessGroup pair = world.newGroup(0, 1)) {
                assertThat(pair == null).isEqualTo(rank == 2);
              }
              done.countDown();
              done.await();
              if (rank == 1) {
                world.abort(new IllegalStateException("the data is wrong"));
              }
              assertThatThrownBy(() -> world.barrier().await())
                  .isInstanceOf(CollectiveException.class)
                  .hasMessageContaining("the data is wrong");
            }
            return null;
          });
    }
  }

  @Test
  void ranksDumpWhenTheStoreAsksThoughItCannotBeWatched() {
    CountDownLatch dumped = new CountDownLatch(2);
    RankContext context =
        new HostedRank(List.of(), TransportSecurity.plain()) {
          @Override
          public void dumped(String world, String occasion, FlightDump dump) {
            assertThat(occasion).isEqualTo("request-1");
            dumped.countDown();
          }
        };
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          2,
          rank -> {
            try (ProcessGroup world =
                HostedGroups.create(plain(store), rank, 2, GroupOptions.defaults(), context)) {
              if (rank == 1) {
                world.flightRecorder().dumpAllRanks("a test");
              }
              assertThat(dumped.await(30, TimeUnit.SECONDS)).isTrue();
              world.barrier().await();
            }
            return null;
          });
    }
  }

  @RepeatedTest(2)
  void aSchemeOfOnesOwnIsRegisteredOnceAndUsed() {
    try (HashStore store = new HashStore()) {
      AtomicInteger closed = new AtomicInteger();
      RendezvousHandler handler =
          url -> {
            int rank = Integer.parseInt(url.getQuery().replaceAll(".*rank=(\\d+).*", "$1"));
            return new RendezvousHandler.Meeting(
                store, rank, 2, "127.0.0.1", closed::incrementAndGet);
          };
      // A scheme stays registered for as long as the JVM runs, and a test may run there again.
      String scheme = "custom-store-test-" + SCHEMES.incrementAndGet();
      RendezvousHandler.register(scheme, handler);
      assertThatThrownBy(() -> RendezvousHandler.register(scheme, handler))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("handler for " + scheme + ":// already");
      assertThatThrownBy(() -> RendezvousHandler.register("tcp", handler))
          .isInstanceOf(IllegalArgumentException.class);
      RankThreads.run(
          2,
          rank -> {
            try (ProcessGroup world =
                Rendezvous.join(scheme + "://here", rank, 2, GroupOptions.defaults())) {
              assertThat(world.size()).isEqualTo(2);
              assertThat(world.rank()).isEqualTo(rank);
              world.barrier().await();
            }
            return null;
          });
      assertThat(closed).hasValue(2);
    }
  }
}
