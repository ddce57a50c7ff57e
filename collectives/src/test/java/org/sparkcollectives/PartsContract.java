package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Specifies operations in which ranks send parts to each other. */
interface PartsContract extends RanksUnderTest {

  List<Integer> SIZES = List.of(1, 2, 3, 4, 7);

  /**
   * Returns what rank {@code from} sends to rank {@code to}: as many elements as the sum of their
   * ranks.
   */
  private static int[] part(int from, int to) {
    return IntStream.range(0, from + to).map(i -> 100 * from + 10 * to + i).toArray();
  }

  private static List<Tensor> empty(int from, int to, int size, boolean received) {
    List<Tensor> tensors = new ArrayList<>();
    for (int peer = 0; peer < size; peer++) {
      tensors.add(Tensor.of(new int[received ? peer + to : from + peer]));
    }
    return tensors;
  }

  @Test
  default void gatherPutsTheInputsInRankOrderAtTheRoot() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              List<Tensor> outputs = group.rank() == root ? empty(0, root, size, true) : List.of();
              group.gather(outputs, Tensor.of(part(group.rank(), root)), root).await();
              for (int peer = 0; peer < outputs.size(); peer++) {
                assertThat((int[]) outputs.get(peer).array()).isEqualTo(part(peer, root));
              }
            }
            return null;
          });
    }
  }

  @Test
  default void scatterGivesEachRankItsPart() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            int rank = group.rank();
            for (int root = 0; root < size; root++) {
              int[] output = new int[root + rank];
              List<Tensor> inputs = new ArrayList<>();
              for (int peer = 0; rank == root && peer < size; peer++) {
                inputs.add(Tensor.of(part(root, peer)));
              }
              group.scatter(Tensor.of(output), inputs, root).await();
              assertThat(output).isEqualTo(part(root, rank));
            }
            return null;
          });
    }
  }

  @Test
  default void allToAllExchangesTensors() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            int rank = group.rank();
            List<Tensor> outputs = empty(0, rank, size, true);
            List<Tensor> inputs = new ArrayList<>();
            for (int peer = 0; peer < size; peer++) {
              inputs.add(Tensor.of(part(rank, peer)));
            }
            group.allToAll(outputs, inputs).await();
            for (int peer = 0; peer < size; peer++) {
              assertThat((int[]) outputs.get(peer).array()).isEqualTo(part(peer, rank));
            }
            return null;
          });
    }
  }

  @Test
  default void allToAllExchangesEqualPartsOfEveryType() {
    ranks(
        3,
        group -> {
          for (DType dtype : DType.values()) {
            Tensor input = Tensor.allocate(dtype, 6);
            Tensor output = Tensor.allocate(dtype, 6);
            HostTensor.of(input).write(0, 6, elements(dtype, i -> 10 * group.rank() + i));
            group.allToAll(output, input).await();
            ByteBuffer received = elements(dtype, i -> 0);
            HostTensor.of(output).read(0, 6, received);
            assertThat(received.flip())
                .as("%s", dtype)
                .isEqualTo(elements(dtype, i -> 10 * (i / 2) + 2 * group.rank() + i % 2));
          }
          return null;
        });
  }

  /** Returns the bytes of six elements, each of which follows from the element's value. */
  private static ByteBuffer elements(DType dtype, IntUnaryOperator value) {
    int width = dtype.bytes();
    ByteBuffer bytes = ByteBuffer.allocateDirect(6 * width).order(ByteOrder.nativeOrder());
    for (int i = 0; bytes.hasRemaining(); i++) {
      int element = value.applyAsInt(i / width);
      bytes.put((byte) (dtype == DType.BOOL ? element % 2 : element + 100 * (i % width)));
    }
    return bytes.flip();
  }

  @Test
  default void allToAllExchangesUnequalRowsOfOneTensor() {
    ranks(
        3,
        group -> {
          int rank = group.rank();
          // Rank r sends s rows of two elements to rank s.
          int[] in = IntStream.range(0, 6).map(i -> 100 * rank + i).toArray();
          int[] out = new int[2 * 3 * rank];
          group
              .allToAll(
                  Tensor.of(out).reshape(3L * rank, 2),
                  Tensor.of(in).reshape(3, 2),
                  new long[] {rank, rank, rank},
                  new long[] {0, 1, 2})
              .await();
          int first = rank == 2 ? 2 : 0;
          for (int peer = 0; peer < 3; peer++) {
            for (int i = 0; i < 2 * rank; i++) {
              assertThat(out[peer * 2 * rank + i]).isEqualTo(100 * peer + first + i);
            }
          }
          int[] equal = new int[3];
          group.allToAll(Tensor.of(equal), Tensor.of(rank, rank, rank), null, new long[0]).await();
          assertThat(equal).containsExactly(0, 1, 2);
          return null;
        });
  }
}
