package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreTable;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Tests a rank that has been cut off from its store: nothing breaks, nothing answers. */
@ExtendWith(LeakCheck.class)
class CutStoreTest {

  /**
   * The limit for a close, which makes many calls. A single call takes five seconds if the store
   * does not answer.
   */
  private static final Duration LESS_THAN_TWO_CALLS = Duration.ofSeconds(9);

  /** A call in a store that does not answer takes five seconds by itself. */
  private static final Duration LESS_THAN_A_CALL = Duration.ofSeconds(5);

  @Test
  void aFailedGroupIsClosedWithoutWaitingForAStoreThatDoesNotAnswer() {
    CountDownLatch over = new CountDownLatch(1);
    try (StoreTable table = new StoreTable()) {
      RankThreads.run(
          2,
          rank -> {
            try (CuttableStore store = new CuttableStore(table)) {
              ProcessGroup world =
                  HostedGroups.create(
                      store, rank, 2, GroupOptions.defaults(), HostedRank.inNode(rank));
              ProcessGroup group = world.newGroup();
              group.allReduce(Tensor.of(1.0), ReduceOp.SUM).await();
              if (rank == 1) {
                over.await();
                store.cut();
                world.close();
                return null;
              }
              store.cut();
              world.abort(new IllegalStateException("the network is gone"));
              assertThatThrownBy(() -> world.barrier()).isInstanceOf(GroupAbortedException.class);
              long start = System.nanoTime();
              world.close();
              assertThat(Duration.ofNanos(System.nanoTime() - start))
                  .isLessThan(LESS_THAN_TWO_CALLS);
              over.countDown();
            }
            return null;
          });
    }
  }

  /** The calls that never return on their own, because the peer never does its part. */
  private static final Map<String, Consumer<ProcessGroup>> WAITING_CALLS =
      Map.of(
          "all-reduce", group -> group.allReduce(Tensor.of(1.0), ReduceOp.SUM).await(),
          "barrier", group -> group.barrier().await(),
          "receive", group -> group.recv(Tensor.of(1.0), 1).await(),
          "broadcast", group -> group.broadcast(Tensor.of(1.0), 1).await());

  /** The heartbeat timeout is ten seconds, and ends nothing before these operations are over. */
  @Test
  void anOverdueOperationOfARankThatIsCutOffEndsAboutASecondAfterItsTimeout() {
    Duration timeout = Duration.ofSeconds(2);
    List<String> names = List.copyOf(WAITING_CALLS.keySet());
    CountDownLatch over = new CountDownLatch(names.size());
    List<StoreTable> tables = Stream.generate(StoreTable::new).limit(names.size()).toList();
    RankThreads.run(
        2 * names.size(),
        thread -> {
          String name = names.get(thread / 2);
          int rank = thread % 2;
          try (CuttableStore store = new CuttableStore(tables.get(thread / 2));
              ProcessGroup world =
                  HostedGroups.create(
                      store,
                      rank,
                      2,
                      GroupOptions.defaults().withTimeout(Duration.ofMinutes(1)),
                      HostedRank.inNode(rank))) {
            world.allReduce(Tensor.of(1.0), ReduceOp.SUM).await();
            if (rank == 1) {
              over.await();
              return null;
            }
            store.cut();
            long start = System.nanoTime();
            try {
              assertThatThrownBy(() -> WAITING_CALLS.get(name).accept(world.withTimeout(timeout)))
                  .as(name)
                  .isInstanceOf(CollectiveTimeoutException.class)
                  .hasMessageContaining("timed out after 2.0 s");
              assertThat(Duration.ofNanos(System.nanoTime() - start).minus(timeout))
                  .as(name)
                  .isLessThan(LESS_THAN_A_CALL);
            } finally {
              over.countDown();
            }
          }
          return null;
        });
    tables.forEach(StoreTable::close);
  }

  /**
   * Cuts rank 1 off from its store after each number of requests, or before the answer to the last.
   * Both ranks make the group, or fail, long before the store's timeout, and so does what follows.
   */
  @Test
  void theMakingOfAGroupEndsWheneverTheStoreIsCutOff() {
    int cases = 24;
    GroupOptions hasty = GroupOptions.defaults().withTimeout(Duration.ofSeconds(1));
    List<StoreTable> tables = Stream.generate(StoreTable::new).limit(cases).toList();
    List<Boolean> made =
        RankThreads.run(
            2 * cases,
            thread -> {
              int number = thread / 2;
              int rank = thread % 2;
              StoreTable table = tables.get(number);
              try (CuttableStore store =
                  rank == 0
                      ? new CuttableStore(table)
                      : new CuttableStore(table, number / 2, number % 2 == 0)) {
                ProcessGroup world;
                try {
                  world = HostedGroups.create(store, rank, 2, hasty, HostedRank.inNode(rank));
                } catch (CollectiveException | StoreException e) {
                  return false;
                }
                world.abort(new IllegalStateException("this is all that was wanted"));
                world.close();
                return true;
              }
            });
    tables.forEach(StoreTable::close);
    // No request reached the store.
    assertThat(made.subList(0, 2)).containsOnly(false);
  }

  @Test
  void anotherGroupIsClosedAfterOneCallAtTheMost() {
    CountDownLatch left = new CountDownLatch(1);
    try (StoreTable table = new StoreTable()) {
      RankThreads.run(
          2,
          rank -> {
            try (CuttableStore store = new CuttableStore(table)) {
              ProcessGroup world =
                  HostedGroups.create(
                      store, rank, 2, GroupOptions.defaults(), HostedRank.inNode(rank));
              world.allReduce(Tensor.of(1.0), ReduceOp.SUM).await();
              if (rank == 1) {
                left.await();
                world.close();
                return null;
              }
              store.cut();
              long start = System.nanoTime();
              world.close();
              assertThat(Duration.ofNanos(System.nanoTime() - start))
                  .isLessThan(LESS_THAN_TWO_CALLS);
              left.countDown();
            }
            return null;
          });
    }
  }
}
