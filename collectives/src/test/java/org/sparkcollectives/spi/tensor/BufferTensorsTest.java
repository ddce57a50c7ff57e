package org.sparkcollectives.spi.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

class BufferTensorsTest {

  @Test
  void aTensorLiesInTheBufferFromPositionToLimit() {
    double[] values = {0, 1, 2, 3, 4};
    DoubleBuffer buffer = DoubleBuffer.wrap(values).position(1).slice().position(1).limit(3);
    Tensor tensor = BufferTensors.of(buffer);
    assertThat(tensor.dtype()).isEqualTo(DType.FLOAT64);
    assertThat(tensor.shape()).containsExactly(2);
    tensor.copyFrom(new double[] {20, 30});
    assertThat(values).containsExactly(0, 1, 20, 30, 4);
    assertThat(buffer.position()).isEqualTo(1);
  }

  @Test
  void everyTypeOfBufferHasItsTypeOfTensor() {
    float[] floats = {1};
    assertThat(BufferTensors.of(FloatBuffer.wrap(floats)).array()).isSameAs(floats);
    assertThat(BufferTensors.of(FloatBuffer.wrap(floats)).dtype()).isEqualTo(DType.FLOAT32);
    assertThat(BufferTensors.of(ShortBuffer.allocate(2)).dtype()).isEqualTo(DType.INT16);
    assertThat(BufferTensors.of(IntBuffer.allocate(2)).dtype()).isEqualTo(DType.INT32);
    assertThat(BufferTensors.of(LongBuffer.allocate(2)).dtype()).isEqualTo(DType.INT64);
    assertThat(BufferTensors.of(ByteBuffer.allocate(2)).dtype()).isEqualTo(DType.INT8);
  }

  @Test
  void directBytesAreNotCopied() {
    ByteBuffer direct = ByteBuffer.allocateDirect(8).position(2).limit(5);
    Tensor tensor = BufferTensors.of(direct);
    assertThat(tensor.count()).isEqualTo(3);
    tensor.copyFrom(new byte[] {7, 8, 9});
    assertThat(direct.get(2)).isEqualTo((byte) 7);
    assertThat(direct.get(4)).isEqualTo((byte) 9);
  }

  @Test
  void memoryThatCannotBeReachedIsRefused() {
    assertThatThrownBy(() -> BufferTensors.of(ByteBuffer.allocateDirect(8).asFloatBuffer()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("wrap the ByteBuffer that it is a view of");
    assertThatThrownBy(() -> BufferTensors.of(IntBuffer.allocate(2).asReadOnlyBuffer()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("read-only");
    assertThatThrownBy(() -> BufferTensors.of(ByteBuffer.allocate(8).asFloatBuffer()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("view of a ByteBuffer on the heap");
  }
}
