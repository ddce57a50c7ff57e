package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Specifies messages between two ranks. */
interface MessagesContract extends RanksUnderTest {

  @Test
  default void messagesOfDifferentTagsMayBeReceivedInAnyOrder() {
    ranks(
        2,
        group -> {
          if (group.rank() == 0) {
            Work first = group.send(Tensor.of(1f), 1, 1);
            Work second = group.send(Tensor.of(2f), 1, 2);
            first.await();
            second.await();
          } else {
            float[] two = new float[1];
            float[] one = new float[1];
            Work second = group.recv(Tensor.of(two), 0, 2);
            second.await();
            Work first = group.recv(Tensor.of(one), 0, 1);
            first.await();
            assertThat(two[0]).isEqualTo(2f);
            assertThat(one[0]).isEqualTo(1f);
            assertThat(first.sourceRank()).isEqualTo(0);
          }
          return null;
        });
  }

  @Test
  default void aReceivePostedBeforeACollectiveDoesNotBlockIt() {
    ranks(
        2,
        group -> {
          int[] sum = {1};
          int[] message = {0};
          if (group.rank() == 0) {
            Work receive = group.recv(Tensor.of(message), 1, 0);
            group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
            receive.await();
            assertThat(message[0]).isEqualTo(42);
          } else {
            group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
            group.send(Tensor.of(42), 0, 0).await();
          }
          assertThat(sum[0]).isEqualTo(2);
          return null;
        });
  }

  @Test
  default void aReceiveFromAnyRankTellsWhoSent() {
    ranks(
        4,
        group -> {
          if (group.rank() == 0) {
            boolean[] seen = new boolean[4];
            for (int i = 1; i < 4; i++) {
              int[] value = new int[1];
              Work receive = group.recvAny(Tensor.of(value), 7);
              receive.await();
              assertThat(receive.sourceRank()).isEqualTo(value[0]);
              seen[value[0]] = true;
            }
            assertThat(seen).containsExactly(false, true, true, true);
          } else {
            group.send(Tensor.of(group.rank()), 0, 7).await();
          }
          return null;
        });
  }

  @Test
  default void largeMessagesArriveWhole() {
    ranks(
        2,
        group -> {
          int count = 3_000_001;
          if (group.rank() == 0) {
            group.send(Samples.contribution(DType.INT32, 5, count), 1, 0).await();
          } else {
            Tensor tensor = Tensor.allocate(DType.INT32, count);
            group.recv(tensor, 0, 0).await();
            assertThat(tensor.array())
                .isEqualTo(Samples.contribution(DType.INT32, 5, count).array());
          }
          return null;
        });
  }

  @Test
  default void aMessageThatDoesNotFitFailsBothSidesAndTheGroupGoesOn() {
    ranks(
        2,
        group -> {
          Work work =
              group.rank() == 0
                  ? group.send(Tensor.of(1f, 2f), 1, 3)
                  : group.recv(Tensor.of(1.0), 0, 3);
          assertThatThrownBy(work::await)
              .isInstanceOfSatisfying(
                  CollectiveMismatchException.class,
                  mismatch ->
                      assertThat(mismatch.calls())
                          .containsExactly(
                              message(0, OpType.SEND, DType.FLOAT32, 2),
                              message(1, OpType.RECV, DType.FLOAT64, 1)))
              .hasMessageContaining("Rank 0 sends float32 x 2")
              .hasMessageContaining("rank 1 receives float64 x 1");
          group.barrier().await();
          return null;
        });
  }

  private static CollectiveCall message(int rank, OpType operation, DType dtype, long count) {
    return new CollectiveCall(
        rank,
        operation,
        -1,
        new CollectiveCall.Tensors(dtype, count, List.of(), Device.Type.CPU),
        null,
        -1);
  }

  @Test
  default void aMessageThatDoesNotFitAReceiveFromAnyRankShowsBothCallsOnBothSides() {
    ranks(
        3,
        group -> {
          if (group.rank() > 0) {
            Work work =
                group.rank() == 1
                    ? group.send(Tensor.of(7L), 2, 0)
                    : group.recvAny(Tensor.of(1L, 2L, 3L), 0);
            assertThatThrownBy(work::await)
                .isInstanceOfSatisfying(
                    CollectiveMismatchException.class,
                    mismatch ->
                        assertThat(mismatch.calls())
                            .containsExactly(
                                message(1, OpType.SEND, DType.INT64, 1),
                                message(2, OpType.RECV_ANY, DType.INT64, 3)));
          }
          group.barrier().await();
          return null;
        });
  }
}
