package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.Threads;

/**
 * Specifies that an operation that is blocked, because a rank has not joined it, delays neither
 * other groups nor messages, and that an operation proceeds whether or not somebody awaits it. No
 * clock is read: the blocked rank goes on only when the other operation is done, so an operation
 * that waited for it would never end.
 */
@MethodSource("org.sparkcollectives.testing.Paths#all")
class OverlapTest extends PathsUnderTest {

  private static final int RANKS = 3;

  /** The rank for which the others wait. */
  private static final int LATE = 2;

  /** A count large enough for several segments and for the algorithms of large tensors. */
  private static final int LONG = 300_000;

  private void ranks(GroupRuns.Body<Void> body) {
    ranks(RANKS, body);
  }

  private static void awaitLatch(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  private static float[] filled(int count, float value) {
    float[] data = new float[count];
    Arrays.fill(data, value);
    return data;
  }

  private static void assertSum(float[] data, float each) {
    assertThat(data[0]).isEqualTo(RANKS * each);
    assertThat(data[data.length - 1]).isEqualTo(RANKS * each);
  }

  @Test
  void aGroupWorksWhileAnotherIsBlocked() {
    CountDownLatch otherGroupIsDone = new CountDownLatch(RANKS);
    ranks(
        world -> {
          try (ProcessGroup blocked = world.newGroup();
              ProcessGroup free = world.newGroup()) {
            float[] first = filled(LONG, 1);
            Work waiting = null;
            if (world.rank() != LATE) {
              waiting = blocked.allReduce(Tensor.of(first), ReduceOp.SUM);
            }
            for (int count : new int[] {1, 1_000, LONG}) {
              float[] second = filled(count, 2);
              free.allReduce(Tensor.of(second), ReduceOp.SUM).await();
              assertSum(second, 2);
              free.barrier().await();
            }
            if (waiting != null) {
              assertThat(waiting.isCompleted()).isFalse();
            }
            otherGroupIsDone.countDown();
            awaitLatch(otherGroupIsDone);
            if (world.rank() == LATE) {
              waiting = blocked.allReduce(Tensor.of(first), ReduceOp.SUM);
            }
            waiting.await();
            assertSum(first, 1);
          }
          return null;
        });
  }

  @Test
  void aGroupWorksWhileAThreadAwaitsAnother() throws Exception {
    CountDownLatch otherGroupIsDone = new CountDownLatch(RANKS);
    try (Threads threads = new Threads()) {
      ranks(
          world -> {
            try (ProcessGroup blocked = world.newGroup();
                ProcessGroup free = world.newGroup()) {
              Future<Void> waiting =
                  threads.start(
                      () -> {
                        if (world.rank() == LATE) {
                          awaitLatch(otherGroupIsDone);
                        }
                        blocked.barrier().await();
                        return null;
                      });
              float[] data = filled(1_000, 3);
              free.allReduce(Tensor.of(data), ReduceOp.SUM).await();
              assertSum(data, 3);
              assertThat(waiting.isDone()).isFalse();
              otherGroupIsDone.countDown();
              Threads.result(waiting);
            }
            return null;
          });
    }
  }

  @Test
  void messagesArriveWhileACollectiveIsBlocked() {
    CountDownLatch messagesAreThere = new CountDownLatch(RANKS);
    ranks(
        world -> {
          Work waiting = world.rank() == LATE ? null : world.barrier();
          int next = (world.rank() + 1) % RANKS;
          int previous = (world.rank() + RANKS - 1) % RANKS;
          for (int count : new int[] {1, LONG}) {
            float[] received = new float[count];
            Work sent = world.send(Tensor.of(filled(count, world.rank())), next, count);
            world.recv(Tensor.of(received), previous, count).await();
            sent.await();
            assertThat(received[count - 1]).isEqualTo(previous);
          }
          if (waiting != null) {
            assertThat(waiting.isCompleted()).isFalse();
          }
          messagesAreThere.countDown();
          awaitLatch(messagesAreThere);
          if (waiting == null) {
            waiting = world.barrier();
          }
          waiting.await();
          return null;
        });
  }

  @Test
  void aMessageThatNobodyTakesHoldsUpNoCollectiveAndNoOtherMessage() {
    CountDownLatch othersAreDone = new CountDownLatch(RANKS);
    ranks(
        world -> {
          float[] late = new float[LONG];
          Work stuck = world.rank() == 0 ? world.send(Tensor.of(filled(LONG, 9)), LATE, 1) : null;
          float[] data = filled(LONG, 1);
          world.allReduce(Tensor.of(data), ReduceOp.SUM).await();
          assertSum(data, 1);
          float[] quick = {5};
          if (world.rank() == 0) {
            world.send(Tensor.of(quick), LATE, 2).await();
          } else if (world.rank() == LATE) {
            quick[0] = 0;
            world.recv(Tensor.of(quick), 0, 2).await();
            assertThat(quick[0]).isEqualTo(5);
          }
          othersAreDone.countDown();
          awaitLatch(othersAreDone);
          if (world.rank() == LATE) {
            world.recv(Tensor.of(late), 0, 1).await();
            assertThat(late[LONG - 1]).isEqualTo(9);
          }
          if (stuck != null) {
            stuck.await();
          }
          return null;
        });
  }

  @Test
  void severalOperationsOfAGroupAreBegunBeforeAnotherRankBeginsTheFirst() {
    int operations = 12;
    CountDownLatch allAreBegun = new CountDownLatch(RANKS - 1);
    ranks(
        world -> {
          if (world.rank() == LATE) {
            awaitLatch(allAreBegun);
          }
          List<float[]> tensors = new ArrayList<>();
          List<Work> works = new ArrayList<>();
          for (int i = 0; i < operations; i++) {
            float[] data = filled(i % 2 == 0 ? 10 + i : LONG, i + 1);
            tensors.add(data);
            works.add(world.allReduce(Tensor.of(data), ReduceOp.SUM));
          }
          if (world.rank() != LATE) {
            assertThat(works).noneMatch(Work::isCompleted);
            allAreBegun.countDown();
          }
          // The last is awaited first: those before it are done by then.
          works.get(operations - 1).await();
          assertThat(works).allMatch(Work::isSuccess);
          for (int i = 0; i < operations; i++) {
            assertSum(tensors.get(i), i + 1);
          }
          return null;
        });
  }

  @Test
  void whatNobodyAwaitsIsCarriedOnWith() {
    CountDownLatch done = new CountDownLatch(2 * RANKS);
    ranks(
        world -> {
          List<float[]> tensors = List.of(filled(LONG, 1), filled(7, 2));
          List<Work> works = new ArrayList<>();
          for (float[] each : tensors) {
            Work work = world.allReduce(Tensor.of(each), ReduceOp.SUM);
            work.future().thenRun(done::countDown);
            works.add(work);
          }
          awaitLatch(done);
          works.forEach(Work::await);
          assertSum(tensors.get(0), 1);
          assertSum(tensors.get(1), 2);
          return null;
        });
  }

  @Test
  void ranksMayBeginTheOperationsOfDifferentGroupsInDifferentOrders() {
    int groups = 6;
    ranks(
        world -> {
          List<ProcessGroup> made = new ArrayList<>();
          for (int i = 0; i < groups; i++) {
            made.add(world.newGroup());
          }
          List<float[]> tensors = new ArrayList<>();
          List<Work> works = new ArrayList<>();
          for (int i = 0; i < groups; i++) {
            int group = (i + 2 * world.rank()) % groups;
            float[] data = filled(LONG / 3, group + 1);
            tensors.add(data);
            works.add(made.get(group).allReduce(Tensor.of(data), ReduceOp.SUM));
          }
          // Each rank first awaits what another has begun last.
          for (int i = 0; i < groups; i++) {
            works.get(i).await();
            assertSum(tensors.get(i), (i + 2 * world.rank()) % groups + 1);
          }
          made.forEach(ProcessGroup::close);
          return null;
        });
  }
}
