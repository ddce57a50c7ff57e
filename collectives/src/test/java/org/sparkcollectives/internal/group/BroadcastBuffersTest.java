package org.sparkcollectives.internal.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

class BroadcastBuffersTest {

  private static final DType[] TYPES = {DType.INT8, DType.FLOAT32, DType.FLOAT64};

  @Test
  void aTensorAsLargeAsTheBufferIsAloneAndTheOthersJoinAroundIt() {
    List<Tensor> tensors =
        List.of(
            Tensor.of(new float[1]),
            Tensor.of(new float[4]),
            Tensor.of(new long[1]),
            Tensor.of(new float[2]),
            Tensor.of(new float[1]),
            Tensor.of(new float[1]));

    assertThat(BroadcastBuffers.assign(tensors, 16))
        .containsExactly(List.of(0, 3, 4), List.of(1), List.of(2), List.of(5));
  }

  @Property(tries = 200)
  void everyTensorIsInOneBufferOfItsTypeWhichIsBounded(
      @ForAll @Size(max = 40) List<@IntRange(max = 40) Integer> counts,
      @ForAll @IntRange(min = 1, max = 100) int limit) {
    List<Tensor> tensors = new ArrayList<>();
    for (int count : counts) {
      tensors.add(Tensor.allocate(TYPES[(count + tensors.size()) % TYPES.length], count));
    }

    List<List<Integer>> buffers = BroadcastBuffers.assign(tensors, limit);

    assertThat(buffers.stream().flatMap(List::stream).sorted().toList())
        .isEqualTo(IntStream.range(0, counts.size()).boxed().toList());
    assertThat(buffers).isSortedAccordingTo((a, b) -> a.get(0) - b.get(0));
    int open = 0;
    for (List<Integer> buffer : buffers) {
      assertThat(buffer.stream().map(index -> tensors.get(index).dtype()).distinct()).hasSize(1);
      long bytes = buffer.stream().mapToLong(index -> tensors.get(index).byteSize()).sum();
      open += bytes < limit ? 1 : 0;
      if (buffer.size() > 1) {
        assertThat(bytes).isLessThan(2L * limit);
        assertThat(buffer).allMatch(index -> tensors.get(index).byteSize() < limit);
      }
    }
    assertThat(open).as("buffers that are not full").isLessThanOrEqualTo(TYPES.length);
  }
}
