package org.sparkcollectives.spark.internal.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

class RequestTest {

  private static ByteBuffer head(int reduction, int outputs, int inputs) {
    return ByteBuffer.allocate(512)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put((byte) 1)
        .put((byte) 1)
        .put((byte) reduction)
        .put((byte) 0)
        .putInt(7)
        .putInt(2)
        .putInt(9)
        .putLong(1500)
        .putDouble(0.5)
        .putShort((short) outputs)
        .putShort((short) inputs);
  }

  private static ByteBuffer tensor(ByteBuffer frame, int segment, DType dtype, long count) {
    return tensor(frame, segment, dtype, 1, count);
  }

  private static ByteBuffer tensor(
      ByteBuffer frame, int segment, DType dtype, int dimensions, long count) {
    return frame
        .putInt(segment)
        .put((byte) dtype.ordinal())
        .put((byte) dimensions)
        .putShort((short) 0)
        .putLong(64)
        .putLong(count);
  }

  @Test
  void fieldsComeOutInTheOrderOfThePage() {
    ByteBuffer frame = head(ReduceOp.Kind.PREMUL_SUM.ordinal(), 1, 1);
    assertThat(frame.position()).isEqualTo(Request.HEAD_BYTES);
    tensor(frame, 3, DType.FLOAT32, 10);
    tensor(frame, 4, DType.INT64, 5);
    frame.putInt(2).put((byte) 'h').put((byte) 'i').putLong(77);
    Request request = new Request(frame.flip());
    assertThat(request.call()).isEqualTo(1);
    assertThat(request.isAsynchronous()).isTrue();
    assertThat(request.isChosen()).isFalse();
    assertThat(request.group()).isEqualTo(7);
    assertThat(request.peer()).isEqualTo(2);
    assertThat(request.tag()).isEqualTo(9);
    assertThat(request.timeout()).isEqualTo(Duration.ofMillis(1500));
    assertThat(request.reduction()).isEqualTo(ReduceOp.premulSum(0.5));
    assertThat(request.outputs())
        .containsExactly(new Request.TensorPlace(3, DType.FLOAT32, 64, 10, List.of(10L)));
    assertThat(request.inputs())
        .containsExactly(new Request.TensorPlace(4, DType.INT64, 64, 5, List.of(5L)));
    assertThat(request.nextText()).isEqualTo("hi");
    assertThat(request.nextLong()).isEqualTo(77);
    assertThatThrownBy(request::nextInt).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theExtentsOfAShapeFollowItsTensor() {
    ByteBuffer frame = head(0, 2, 1);
    tensor(frame, 3, DType.FLOAT32, 2, 12).putLong(3).putLong(4);
    tensor(frame, 3, DType.FLOAT32, 0, 1);
    tensor(frame, 4, DType.INT64, 3, 0).putLong(Long.MAX_VALUE).putLong(0).putLong(2);
    Request request = new Request(frame.putInt(77).flip());
    assertThat(request.outputs())
        .extracting(Request.TensorPlace::shape)
        .containsExactly(List.of(3L, 4L), List.of());
    assertThat(request.inputs().get(0).shape()).containsExactly(Long.MAX_VALUE, 0L, 2L);
    assertThat(request.nextInt()).isEqualTo(77);
  }

  @Test
  void aShapeThatHasNotItsElementsIsRefused() {
    long half = 1L << 32;
    for (long[] shape : new long[][] {{3, 5}, {-3, -4}, {half, half}, {0, 12}}) {
      ByteBuffer frame = tensor(head(0, 1, 0), 3, DType.FLOAT32, 2, 12);
      frame.putLong(shape[0]).putLong(shape[1]);
      assertThatThrownBy(() -> new Request(frame.flip()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("has not 12 elements");
    }
    ByteBuffer scalar = tensor(head(0, 1, 0), 3, DType.FLOAT32, 0, 2);
    assertThatThrownBy(() -> new Request(scalar.flip()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("The shape [] has not 2 elements");
    ByteBuffer cut = tensor(head(0, 1, 0), 3, DType.FLOAT32, 200, 12).putLong(12);
    assertThatThrownBy(() -> new Request(cut.flip()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("shorter than it says");
  }

  @Test
  void aListThatSaysItIsLongerThanTheFrameIsRefusedBeforeMemoryIsTaken() {
    for (int length : new int[] {-1, 1000, Integer.MAX_VALUE}) {
      ByteBuffer frame = head(0, 0, 0).putInt(length).putLong(1);
      Request request = new Request(frame.flip());
      assertThatThrownBy(request::nextLongs)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("shorter than it says");
    }
  }

  @Test
  void whatIsNoReductionOrTypeIsRefused() {
    assertThatThrownBy(() -> new Request(head(9, 0, 0).flip()).reduction())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no reduction 9");
    ByteBuffer frame = head(0, 1, 0).putInt(1).putInt(99 | 1 << 8).putLong(0).putLong(1);
    assertThatThrownBy(() -> new Request(frame.flip()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no element type 99");
  }

  @Test
  void noiseIsRefusedAsAnArgument() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] noise = new byte[random.nextInt(120)];
      random.nextBytes(noise);
      ByteBuffer frame = ByteBuffer.wrap(noise).order(ByteOrder.LITTLE_ENDIAN);
      try {
        Request request = new Request(frame);
        assertThat(request.outputs().size() * 24).as("seed %d", seed).isLessThan(120);
        request.nextTexts();
      } catch (IllegalArgumentException e) {
        assertThat(e).as("seed %d", seed).hasMessageNotContaining("null");
      }
    }
  }
}
