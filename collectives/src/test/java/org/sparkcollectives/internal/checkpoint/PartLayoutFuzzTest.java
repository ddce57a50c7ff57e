package org.sparkcollectives.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Tests that any bytes in the store are either the layout of a part of a checkpoint, or refused.
 */
class PartLayoutFuzzTest {

  static Stream<byte[]> seeds() {
    List<HostTensor> tensors =
        List.of(
            HostTensor.allocate(DType.FLOAT32, 12).reshape(3, 4),
            HostTensor.allocate(DType.INT64, 0),
            HostTensor.allocate(DType.BFLOAT16, 1));
    return Stream.of(
        PartLayout.of(tensors).encode(),
        PartLayout.of(List.of()).encode(),
        new byte[] {1, 1, 0x7f, -1, -1, -1},
        new byte[] {2, 1, 0, 0, 0, 0},
        new byte[] {1, 1, 0, 0, 0, 1, 0, 1, 'X', 0, 0, 0, 0});
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyBytesAreALayoutOrRefused(byte[] bytes) {
    PartLayout layout;
    try {
      layout = PartLayout.decode(bytes);
    } catch (IllegalStateException e) {
      assertThat(e).hasMessageStartingWith("The checkpoint");
      return;
    }
    assertThat(PartLayout.decode(layout.encode())).isEqualTo(layout);
    assertThat(layout.difference(List.of())).isNotNull();
  }
}
