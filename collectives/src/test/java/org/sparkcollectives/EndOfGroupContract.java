package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.testing.Eventually;

/**
 * Specifies how a group ends: ranks whose calls do not match, that abort, leave, or do not come.
 */
interface EndOfGroupContract extends RanksUnderTest {

  @Test
  default void anInterruptOfTheWaitingThreadAbortsTheGroup() {
    ranks(
        2,
        group -> {
          if (group.rank() == 0) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> group.recv(Tensor.of(0), 1, 0).await())
                .isInstanceOf(GroupAbortedException.class)
                .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
          } else {
            assertThatThrownBy(() -> group.allReduce(Tensor.of(0), ReduceOp.SUM).await())
                .isInstanceOfSatisfying(
                    PeerFailedException.class,
                    e -> assertThat(e.failure().kind()).isEqualTo(Failure.Kind.KILLED));
          }
          return null;
        });
  }

  @Test
  default void differentCountsFailBothRanksAndNameBoth() {
    ranks(
        2,
        group -> {
          Tensor tensor = Tensor.allocate(DType.FLOAT32, group.rank() == 0 ? 100 : 200);
          assertThatThrownBy(() -> group.allReduce(tensor, ReduceOp.SUM).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("100")
              .hasMessageContaining("200");
          return null;
        });
  }

  @Test
  default void differentCollectivesFailAllRanksAndAreNamed() {
    ranks(
        3,
        group -> {
          Tensor tensor = Tensor.of(1f, 2f, 3f);
          // The others may have failed before this rank even calls.
          assertThatThrownBy(
                  () ->
                      (group.rank() == 1
                              ? group.broadcast(tensor, 0)
                              : group.allReduce(tensor, ReduceOp.SUM))
                          .await())
              .isInstanceOfSatisfying(CollectiveMismatchException.class, this::hasBothCalls)
              .hasMessageContaining("broadcast #0")
              .hasMessageContaining("all-reduce #0");
          return null;
        });
  }

  /** Checks the exception of {@link #differentCollectivesFailAllRanksAndAreNamed}. */
  private void hasBothCalls(CollectiveMismatchException mismatch) {
    assertThat(mismatch.calls()).hasSize(2);
    for (CollectiveCall call : mismatch.calls()) {
      boolean odd = call.rank() == 1;
      assertThat(call.operation()).isEqualTo(odd ? OpType.BROADCAST : OpType.ALL_REDUCE);
      assertThat(call.sequenceNumber()).isZero();
      assertThat(call.dtype()).isEqualTo(DType.FLOAT32);
      assertThat(call.count()).isEqualTo(3);
      assertThat(call.reduction()).isEqualTo(odd ? null : ReduceOp.Kind.SUM);
      assertThat(call.root()).isEqualTo(odd ? 0 : -1);
    }
    assertThat(mismatch.calls())
        .extracting(CollectiveCall::rank)
        .contains(1)
        .doesNotHaveDuplicates();
  }

  @Test
  default void withDetailEveryRankGetsTheSameTwoCalls() {
    List<List<CollectiveCall>> calls =
        ranks(
            4,
            world -> {
              ProcessGroup group =
                  world.newGroup(GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL));
              List<List<CollectiveCall>> seen = new CopyOnWriteArrayList<>();
              Tensor tensor = Tensor.of(1f, 2f, 3f, 4f, 5f, 6f).reshape(2, 3);
              assertThatThrownBy(
                      () ->
                          (group.rank() == 2
                                  ? group.reduce(tensor, ReduceOp.MAX, 1)
                                  : group.allReduce(tensor, ReduceOp.SUM))
                              .await())
                  .isInstanceOfSatisfying(
                      CollectiveMismatchException.class, e -> seen.add(e.calls()));
              // Later operations say the same.
              assertThatThrownBy(() -> group.barrier())
                  .isInstanceOfSatisfying(
                      CollectiveMismatchException.class, e -> seen.add(e.calls()));
              assertThat(seen.get(1)).isEqualTo(seen.get(0));
              return seen.get(0);
            });
    List<List<Long>> shapes = List.of(List.of(2L, 3L));
    assertThat(calls)
        .containsOnly(
            List.of(
                new CollectiveCall(
                    0,
                    OpType.ALL_REDUCE,
                    0,
                    new CollectiveCall.Tensors(DType.FLOAT32, 6, shapes, Device.Type.CPU),
                    ReduceOp.Kind.SUM,
                    -1),
                new CollectiveCall(
                    2,
                    OpType.REDUCE,
                    0,
                    new CollectiveCall.Tensors(DType.FLOAT32, 6, shapes, Device.Type.CPU),
                    ReduceOp.Kind.MAX,
                    1)));
  }

  /**
   * Calls different collectives of different sizes, of which small ones take another path than
   * large ones, and ranks of one JVM yet another.
   */
  @Test
  default void differentCollectivesOfDifferentSizesFailAllRanks() {
    for (int stray = 0; stray < 4; stray++) {
      int other = stray;
      ranks(
          4,
          group -> {
            Tensor tensor = Tensor.allocate(DType.FLOAT32, group.rank() == other ? 300_000 : 3);
            ReduceOp op = group.rank() == other ? ReduceOp.MAX : ReduceOp.SUM;
            assertThatThrownBy(() -> group.allReduce(tensor, op).await())
                .isInstanceOf(CollectiveException.class)
                .hasMessageMatching("(?s).*float32 (x |\\[)300000\\]?, MAX.*")
                .hasMessageMatching("(?s).*float32 (x |\\[)3\\]?, SUM.*");
            return null;
          });
    }
  }

  @Test
  default void anAbortFailsThePendingOperationsOfAllRanksWithItsCause() {
    ranks(
        3,
        group -> {
          if (group.rank() == 2) {
            group.abort(new IllegalStateException("the data is wrong"));
            assertThatThrownBy(() -> group.barrier().await())
                .isInstanceOf(GroupAbortedException.class)
                .hasRootCauseMessage("the data is wrong");
          } else {
            assertThatThrownBy(() -> group.allReduce(Tensor.of(1f), ReduceOp.SUM).await())
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("rank 2")
                .hasMessageContaining("the data is wrong")
                .cause()
                .hasMessageContaining("IllegalStateException")
                .hasMessageContaining("anAbortFails");
          }
          return null;
        });
  }

  @Test
  default void aWaitInTheGroupsStoreEndsWithTheGroup() {
    ranks(
        3,
        group -> {
          if (group.rank() == 1) {
            group.store().multiGet(List.of("0 waits", "2 waits"));
            group.abort(new IllegalStateException("the data is wrong"));
            return null;
          }
          Thread waiting = Thread.currentThread();
          CompletableFuture.runAsync(
              () -> {
                Eventually.holds(
                    () ->
                        waiting.getState() == Thread.State.TIMED_WAITING
                            && Arrays.stream(waiting.getStackTrace())
                                .anyMatch(frame -> frame.getMethodName().equals("get")),
                    () -> "the rank does not wait");
                group.store().set(group.rank() + " waits", new byte[0]);
              },
              body -> new Thread(body).start());
          assertThatThrownBy(() -> group.store().get("never"))
              .isInstanceOf(StoreException.class)
              .hasMessageContaining(group.name())
              .hasStackTraceContaining("the data is wrong");
          return null;
        });
  }

  @Test
  default void theGroupsStoreWorksAfterAFailureUntilTheGroupIsClosed() {
    List<Store> stores =
        ranks(
            3,
            group -> {
              Store store = group.store();
              if (group.rank() == 1) {
                group.abort(new IllegalStateException("the data is wrong"));
              } else {
                assertThatThrownBy(() -> group.barrier().await())
                    .isInstanceOf(PeerFailedException.class);
              }
              store.set("last word of " + group.rank(), new byte[] {(byte) group.rank()});
              List<byte[]> words =
                  group
                      .store()
                      .multiGet(List.of("last word of 0", "last word of 1", "last word of 2"));
              assertThat(words).extracting(word -> (int) word[0]).containsExactly(0, 1, 2);
              store.barrier("all have read", 3, Duration.ofSeconds(60));
              assertThatThrownBy(() -> group.barrier()).isInstanceOf(CollectiveException.class);
              return store;
            });
    for (Store store : stores) {
      assertThatThrownBy(() -> store.set("key", new byte[0]))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is closed on rank");
    }
  }

  @Test
  default void aFailedGroupThatWasClosedButIsKeptKeepsNoTensors() {
    List<WeakReference<Tensor>> tensors = new CopyOnWriteArrayList<>();
    List<ProcessGroup> kept =
        ranks(
            2,
            world -> {
              Tensor tensor = Tensor.of(1f, 2f);
              tensors.add(new WeakReference<>(tensor));
              world.allReduce(tensor, ReduceOp.SUM).await();
              if (world.rank() == 0) {
                ProcessGroup hasty = world.withTimeout(Duration.ofMillis(100));
                Work message = world.recv(tensor, 1, 0);
                assertThatThrownBy(() -> hasty.allReduce(tensor, ReduceOp.SUM).await())
                    .isInstanceOf(CollectiveTimeoutException.class);
                assertThatThrownBy(message::await).isInstanceOf(CollectiveException.class);
              } else {
                assertThatThrownBy(() -> world.recv(tensor, 0, 0).await())
                    .isInstanceOf(CollectiveException.class);
              }
              return world;
            });
    Eventually.holdsAfterCollection(
        () -> tensors.stream().allMatch(each -> each.refersTo(null)),
        () -> "kept by one of " + kept);
    assertThat(kept).hasSize(2);
  }

  @Test
  default void theGroupsStoreIsClosedWithTheGroup() {
    List<Store> stores = ranks(2, ProcessGroup::store);
    for (Store store : stores) {
      assertThatThrownBy(() -> store.get("key"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is closed on rank");
    }
  }

  @Test
  default void aRankThatLeavesFailsThoseThatWaitForIt() {
    ranks(
        3,
        group -> {
          group.barrier().await();
          if (group.rank() != 1) {
            assertThatThrownBy(() -> group.allReduce(Tensor.of(1f), ReduceOp.SUM).await())
                .isInstanceOfSatisfying(
                    PeerFailedException.class,
                    e -> {
                      assertThat(e.failure().rank()).isEqualTo(1);
                      assertThat(e.failure().kind()).isEqualTo(Failure.Kind.PEER_FINISHED);
                    });
          }
          return null;
        });
  }

  @Test
  default void aRankThatLeavesFailsThoseThatSendToIt() {
    for (boolean early : new boolean[] {true, false}) {
      ranks(
          2,
          world -> {
            ProcessGroup group = world.newGroup(GroupOptions.defaults());
            if (group.rank() == 1) {
              if (early) {
                world.store().get("sent");
              }
              group.close();
              world.store().set("left", new byte[1]);
              return null;
            }
            if (!early) {
              world.store().get("left");
            }
            Work sending = group.send(Tensor.of(1f), 1, 0);
            world.store().set("sent", new byte[1]);
            assertThatThrownBy(sending::await)
                .as(early ? "before it leaves" : "after it has left")
                .isInstanceOfSatisfying(
                    PeerFailedException.class,
                    e -> {
                      assertThat(e.failure().rank()).isEqualTo(1);
                      assertThat(e.failure().kind()).isEqualTo(Failure.Kind.PEER_FINISHED);
                    });
            return null;
          });
    }
  }

  @Test
  default void anOverdueCollectiveNamesTheRanksThatDidNotCome() {
    CountDownLatch over = new CountDownLatch(2);
    ranks(
        3,
        group -> {
          if (group.rank() == 1) {
            over.await();
            return null;
          }
          try {
            assertThatThrownBy(
                    () ->
                        group
                            .withTimeout(Duration.ofMillis(200))
                            .allReduce(Tensor.of(1f), ReduceOp.SUM)
                            .await())
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("all-reduce #0 (float32 x 1, SUM)")
                .hasMessageContaining("rank 1");
          } finally {
            over.countDown();
          }
          return null;
        });
  }

  /** Waits, in place of the user's own code. */
  private static void readingSlowly(CountDownLatch end) throws InterruptedException {
    end.await();
  }

  @Test
  default void anOverdueCollectiveShowsWhereTheMissingRankIsInstead() {
    CountDownLatch over = new CountDownLatch(2);
    CompletableFuture<Thread> missing = new CompletableFuture<>();
    ranks(
        3,
        group -> {
          if (group.rank() == 1) {
            missing.complete(Thread.currentThread());
            readingSlowly(over);
            return null;
          }
          Eventually.holds(
              () -> missing.isDone() && missing.join().getState() == Thread.State.WAITING,
              () -> "rank 1 does not wait");
          Duration timeout = Duration.ofMillis(group.rank() == 0 ? 200 : 60_000);
          try {
            assertThatThrownBy(
                    () -> group.withTimeout(timeout).allReduce(Tensor.of(1f), ReduceOp.SUM).await())
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("thread \"rank-1\" (WAITING) is in ")
                .hasMessageContaining("EndOfGroupContract.readingSlowly(EndOfGroupContract.java:")
                .satisfies(
                    e -> {
                      if (e instanceof PeerFailedException peer) {
                        assertThat(peer.failure().cause())
                            .contains("\n\tat ")
                            .contains("CountDownLatch.await");
                      }
                    });
          } finally {
            over.countDown();
          }
          return null;
        });
  }

  @Test
  default void aClosedGroupRefusesOperations() {
    ranks(
        2,
        group -> {
          group.close();
          group.close();
          assertThatThrownBy(group::barrier)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("closed");
          return null;
        });
  }
}
