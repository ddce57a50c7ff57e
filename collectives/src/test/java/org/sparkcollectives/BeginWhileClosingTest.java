package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.AbstractList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/**
 * Tests an operation that one thread begins while another closes the group: either the close waits
 * for it, or it is refused. It never waits for ever.
 */
@ExtendWith(LeakCheck.class)
class BeginWhileClosingTest {

  private static final int AWAITED_BEFORE = 20;

  /**
   * A list that runs an action, such as closing the group, while a call checks it as an argument.
   */
  private static final class ClosingList<T> extends AbstractList<T> {
    private final T element;
    private final Runnable onRead;

    ClosingList(T element, Runnable onRead) {
      this.element = element;
      this.onRead = onRead;
    }

    @Override
    public T get(int index) {
      onRead.run();
      return element;
    }

    @Override
    public int size() {
      return 1;
    }
  }

  private static CompletableFuture<Void> onAnotherThread(Runnable action) {
    return CompletableFuture.runAsync(action, body -> new Thread(body, "another").start());
  }

  private static void makePair(RankThreads.Body<Void> body) {
    RankThreads.run(2, body);
  }

  @Test
  void aMessageThatWasCalledBeforeTheCloseButNotBegunIsRefusedOnceTheGroupIsClosed() {
    refusedAfterClose(
        (group, onRead) ->
            group
                .batch(
                    new ClosingList<>(
                        P2POp.recv(Tensor.of(new double[1]), 1 - group.rank(), 0), onRead))
                .get(0));
    refusedAfterClose(
        (group, onRead) ->
            group
                .batch(new ClosingList<>(P2POp.send(Tensor.of(1.0), 1 - group.rank(), 0), onRead))
                .get(0));
  }

  @Test
  void aCollectiveThatWasCalledBeforeTheCloseButNotBegunIsRefusedOnceTheGroupIsClosed() {
    refusedAfterClose(
        (group, onRead) ->
            group.allReduceCoalesced(new ClosingList<>(Tensor.of(1.0), onRead), ReduceOp.SUM));
  }

  private interface Call {
    Work begin(ProcessGroup group, Runnable onRead);
  }

  private static void refusedAfterClose(Call call) {
    try (HashStore store = new HashStore()) {
      makePair(
          rank -> {
            ProcessGroup group = ProcessGroups.create(store, rank, 2, GroupOptions.defaults());
            CompletableFuture<Void> closed = new CompletableFuture<>();
            Runnable close =
                () -> {
                  if (!closed.isDone()) {
                    group.close();
                    closed.complete(null);
                  }
                };
            assertThatThrownBy(() -> call.begin(group, close))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed");
            assertThat(closed).isDone();
            return null;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsBegunWhenTheCloseHasSeenNothingPendingIsRefused(boolean collective) {
    CountDownLatch leaving = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    FaultyStore.Fault pauseWhileLeaving =
        (method, argument) -> {
          if (method.equals("append") && argument.endsWith("departures") && begun.getCount() > 0) {
            leaving.countDown();
            Eventually.holds(() -> begun.getCount() == 0, () -> "nobody tries to begin");
          }
        };
    try (HashStore store = new HashStore()) {
      makePair(
          rank -> {
            ProcessGroup group =
                ProcessGroups.create(
                    rank == 0
                        ? FaultyStore.over(store, pauseWhileLeaving, FaultyStore.NONE)
                        : store,
                    rank,
                    2,
                    GroupOptions.defaults());
            for (int i = 0; i < AWAITED_BEFORE; i++) {
              // From then on the channel leaves single operations to the threads that await them.
              group.barrier().await();
            }
            if (rank == 1) {
              begun.await();
              group.close();
              return null;
            }
            CountDownLatch called = new CountDownLatch(1);
            Runnable whileLeaving =
                () -> {
                  called.countDown();
                  Eventually.holds(() -> leaving.getCount() == 0, () -> "nobody closes");
                };
            CompletableFuture<Void> closing =
                onAnotherThread(
                    () -> {
                      Eventually.holds(() -> called.getCount() == 0, () -> "nobody calls");
                      group.close();
                    });
            try {
              assertThatThrownBy(
                      () -> {
                        if (collective) {
                          group.allReduceCoalesced(
                              new ClosingList<>(Tensor.of(1.0), whileLeaving), ReduceOp.SUM);
                        } else {
                          group.batch(
                              new ClosingList<>(
                                  P2POp.recv(Tensor.of(new double[1]), 1, 0), whileLeaving));
                        }
                      })
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("is closed");
            } finally {
              begun.countDown();
            }
            closing.get(60, TimeUnit.SECONDS);
            return null;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"heap", "tcp"})
  void whateverIsBegunWhileTheGroupIsClosedEnds(String transport) {
    List<Function<ProcessGroup, Work>> calls =
        List.of(
            group -> group.allReduce(Tensor.of(1.0), ReduceOp.SUM),
            group -> group.send(Tensor.of(1.0), 1 - group.rank(), 1),
            group -> group.recv(Tensor.of(new double[1]), 1 - group.rank(), 1));
    GroupOptions options = GroupOptions.defaults().withTransports(transport, "tcp");
    for (int round = 0; round < 20; round++) {
      CountDownLatch begins = new CountDownLatch(2);
      try (HashStore store = new HashStore()) {
        makePair(
            rank -> {
              ProcessGroup group =
                  HostedGroups.create(store, rank, 2, options, HostedRank.inNode(rank));
              Queue<Work> begun = new ConcurrentLinkedQueue<>();
              List<CompletableFuture<Void>> beginners =
                  calls.stream()
                      .map(call -> onAnotherThread(() -> beginAll(group, call, begun)))
                      .toList();
              Eventually.holds(() -> !begun.isEmpty(), () -> "nobody begins");
              begins.countDown();
              begins.await();
              group.abort(new IllegalStateException("the test ends"));
              group.close();
              for (CompletableFuture<Void> each : beginners) {
                each.get(60, TimeUnit.SECONDS);
              }
              Eventually.holds(
                  () -> begun.stream().allMatch(Work::isCompleted),
                  () -> "there are works that nobody ends");
              return null;
            });
      }
    }
  }

  private static void beginAll(
      ProcessGroup group, Function<ProcessGroup, Work> call, Queue<Work> begun) {
    while (true) {
      // The threads begin as many operations as there are moments in which to close, but no flood.
      LockSupport.parkNanos(20_000);
      try {
        begun.add(call.apply(group));
      } catch (CollectiveException e) {
        // The group has failed, and is not closed yet.
      } catch (IllegalStateException e) {
        return;
      }
    }
  }
}
