package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Specifies broadcasts of several tensors in shared buffers, by a table of PyTorch's. */
interface CoalescedBroadcastContract extends RanksUnderTest {

  private static JsonNode table() {
    try (InputStream in =
        CoalescedBroadcastContract.class.getResourceAsStream("broadcast-coalesced.json")) {
      return new ObjectMapper().readTree(in);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns a tensor whose bytes follow from the number and the rank. */
  private static Tensor tensor(DType dtype, long count, int number, int rank) {
    byte[] bytes = bytes(dtype, count, number, rank);
    Tensor tensor = Tensor.allocate(dtype, count);
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.nativeOrder());
    direct.put(bytes).flip();
    tensor.copyFrom(Tensor.wrap(dtype, direct));
    return tensor;
  }

  private static byte[] bytes(DType dtype, long count, int number, int rank) {
    byte[] bytes = new byte[(int) count * dtype.bytes()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (31 * number + 7 * rank + i);
    }
    return bytes;
  }

  private static byte[] contents(Tensor tensor) {
    ByteBuffer direct =
        ByteBuffer.allocateDirect((int) tensor.byteSize()).order(ByteOrder.nativeOrder());
    Tensor.wrap(tensor.dtype(), direct).copyFrom(tensor);
    byte[] bytes = new byte[(int) tensor.byteSize()];
    direct.get(bytes);
    return bytes;
  }

  private static long broadcasts(ProcessGroup group) {
    return group.flightRecorder().records().stream()
        .filter(each -> each.opType() == OpType.BROADCAST)
        .count();
  }

  @Test
  default void tensorsShareBuffersByTypeAndSize() {
    ranks(
        3,
        group -> {
          for (JsonNode each : table()) {
            int root = each.get("root").asInt();
            List<Tensor> tensors = new ArrayList<>();
            for (int i = 0; i < each.get("counts").size(); i++) {
              tensors.add(
                  tensor(
                      DType.valueOf(each.get("dtypes").get(i).asText()),
                      each.get("counts").get(i).asLong(),
                      i,
                      group.rank()));
            }
            long before = broadcasts(group);
            group.broadcastCoalesced(tensors, each.get("bufferBytes").asLong(), root);
            assertThat(broadcasts(group) - before).isEqualTo(each.get("broadcasts").asLong());
            for (int i = 0; i < tensors.size(); i++) {
              Tensor tensor = tensors.get(i);
              assertThat(contents(tensor))
                  .isEqualTo(bytes(tensor.dtype(), tensor.count(), i, root));
            }
          }
          return null;
        });
  }

  @Test
  default void aCoalescedBroadcastTakesLargeAndEmptyTensors() {
    ranks(
        3,
        group -> {
          List<Tensor> tensors = new ArrayList<>();
          long[] counts = {3, 300_000, 0, 5, 0, 40_000, 1};
          for (int i = 0; i < counts.length; i++) {
            tensors.add(
                tensor(i % 2 == 0 ? DType.INT16 : DType.FLOAT32, counts[i], i, group.rank()));
          }
          group.broadcastCoalesced(tensors, 2);
          for (int i = 0; i < counts.length; i++) {
            Tensor tensor = tensors.get(i);
            assertThat(contents(tensor)).isEqualTo(bytes(tensor.dtype(), counts[i], i, 2));
          }
          return null;
        });
  }

  @Test
  default void ranksThatGiveDifferentTensorsAreAllToldAndTheGroupGoesOn() {
    ranks(
        3,
        group -> {
          boolean odd = group.rank() == 1;
          // The sums are equal, so that the broadcast itself would not notice.
          float[] first = new float[odd ? 3 : 5];
          float[] second = new float[odd ? 5 : 3];
          assertThatThrownBy(
                  () ->
                      group.broadcastCoalesced(
                          List.of(Tensor.of(first), Tensor.of(second)), 1024, 0))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("broadcast-coalesced of group")
              .hasMessageContaining("on rank " + group.rank() + " of 3")
              .hasMessageContaining("rank 0 gives tensor 0 as float32 x 5 on a ")
              .hasMessageContaining("and rank 1 gives tensor 0 as float32 x 3 on a ");
          int root = odd ? 1 : 0;
          assertThatThrownBy(() -> group.broadcastCoalesced(List.of(Tensor.of(1f)), 8, root))
              .hasMessageContaining("rank 0 gives buffers of 8 bytes from root 0")
              .hasMessageContaining("and rank 1 gives buffers of 8 bytes from root 1");
          List<Tensor> list = odd ? List.of(Tensor.of(1)) : List.of(Tensor.of(1), Tensor.of(2));
          assertThatThrownBy(() -> group.broadcastCoalesced(list, 0))
              .hasMessageContaining("rank 0 gives 2 tensors, and rank 1 gives 1 tensors");
          assertThatThrownBy(() -> group.broadcastCoalesced(List.of(Tensor.of(1f)), odd ? 0 : 8, 0))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("on rank " + group.rank() + " of 3: ")
              .hasMessageContaining(odd ? "" : "rank 1 refused its arguments: ")
              .hasMessageContaining("the buffers must have 1 byte or more, not 0");
          assertThatThrownBy(() -> group.broadcastCoalesced(odd ? null : List.of(Tensor.of(1)), 0))
              .hasMessageContaining("requires a non-empty tensor list");
          int[] value = {group.rank() + 4};
          group.broadcastCoalesced(List.of(Tensor.of(value)), 1);
          assertThat(value).containsExactly(5);
          return null;
        });
  }
}
