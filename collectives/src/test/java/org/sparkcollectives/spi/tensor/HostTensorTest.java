package org.sparkcollectives.spi.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.InvocationName;

/** Specifies what every kind of host memory must do. */
@ExtendWith(InvocationName.class)
@ParameterizedClass(name = "{0}")
@EnumSource
class HostTensorTest {

  private static final int COUNT = 2500;

  private final TensorMemory memory;

  HostTensorTest(TensorMemory memory) {
    this.memory = memory;
  }

  private HostTensor floats(float... values) {
    HostTensor tensor = memory.allocate(DType.FLOAT32, values.length);
    tensor.copyFrom(values);
    return tensor;
  }

  private static float[] floats(Tensor tensor) {
    float[] values = new float[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  private static ByteBuffer randomElements(DType dtype, int count) {
    byte[] bytes = new byte[count * dtype.bytes()];
    new Random(count).nextBytes(bytes);
    if (dtype == DType.BOOL) {
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] &= 1;
      }
    }
    return TensorMemory.direct(bytes.length).put(bytes).flip();
  }

  @ParameterizedTest
  @EnumSource
  void whatIsWrittenFromABufferIsReadBackAtAnyPosition(DType dtype) {
    ByteBuffer elements = randomElements(dtype, COUNT);
    for (int misalignment = 0; misalignment < 3; misalignment++) {
      ByteBuffer staging = TensorMemory.direct(elements.remaining() + misalignment + 5);
      staging.position(misalignment).put(elements.duplicate()).position(misalignment);
      HostTensor tensor = memory.allocate(dtype, COUNT);
      tensor.write(0, 1000, staging);
      tensor.write(1000, COUNT - 1000, staging);
      assertThat(staging.position()).isEqualTo(misalignment + elements.remaining());

      ByteBuffer copy = TensorMemory.direct(staging.capacity()).position(misalignment);
      tensor.read(0, 7, copy);
      tensor.read(7, COUNT - 7, copy);
      assertThat(copy.position()).isEqualTo(misalignment + elements.remaining());
      assertThat(copy.flip().position(misalignment)).isEqualTo(elements);
    }
  }

  @ParameterizedTest
  @EnumSource
  void elementsAreCopiedToAndFromEveryOtherKindOfMemory(DType dtype) {
    ByteBuffer elements = randomElements(dtype, COUNT);
    for (TensorMemory other : TensorMemory.values()) {
      HostTensor source = other.tensor(dtype, elements);
      HostTensor target = memory.allocate(dtype, COUNT);
      target.copyFrom(source);
      assertThat(TensorMemory.elements(target)).as("from %s", other).isEqualTo(elements);

      target.copyFrom(10, source, 20, 1030);
      ByteBuffer expected = TensorMemory.direct(elements.capacity()).put(elements.duplicate());
      int width = dtype.bytes();
      expected.put(10 * width, elements, 20 * width, 1030 * width);
      assertThat(TensorMemory.elements(target)).as("from %s", other).isEqualTo(expected.flip());
    }
  }

  @ParameterizedTest
  @EnumSource
  void elementsAreCopiedToAndFromArrays(DType dtype) {
    HostTensor source = memory.tensor(dtype, randomElements(dtype, COUNT));
    Object array = HostTensor.allocate(dtype, COUNT).array();
    source.copyTo(array);
    HostTensor target = memory.allocate(dtype, COUNT);
    target.copyFrom(array);
    assertThat(TensorMemory.elements(target)).isEqualTo(TensorMemory.elements(source));
  }

  @ParameterizedTest
  @EnumSource
  void aRangeGoesToAndComesFromTheMiddleOfAnArray(DType dtype) {
    ByteBuffer elements = randomElements(dtype, COUNT);
    HostTensor source = memory.tensor(dtype, elements);
    int slots = ArrayType.slots(dtype);
    Object array = ArrayType.of(dtype).allocate((COUNT + 2) * slots);
    source.toArray(500, 1500, array, 2 * slots);
    HostTensor target = memory.allocate(dtype, COUNT);
    target.fromArray(100, 1500, array, 2 * slots);
    assertThat(TensorMemory.elements(target.slice(100, 1500)))
        .isEqualTo(TensorMemory.elements(source.slice(500, 1500)));
    assertThat(TensorMemory.elements(target.slice(0, 100)))
        .isEqualTo(TensorMemory.direct(100 * dtype.bytes()));
  }

  @Test
  void copiesWithinOneTensorMayOverlap() {
    HostTensor tensor = floats(0, 1, 2, 3, 4, 5);
    tensor.copyFrom(1, tensor, 0, 5);
    assertThat(floats(tensor)).containsExactly(0, 0, 1, 2, 3, 4);
    tensor.copyFrom(0, tensor, 2, 4);
    assertThat(floats(tensor)).containsExactly(1, 2, 3, 4, 3, 4);
  }

  @Test
  void truthIsAnythingButZero() {
    HostTensor tensor = memory.allocate(DType.BOOL, 4);
    tensor.write(0, 4, TensorMemory.direct(4).put(new byte[] {0, 1, -128, 2}).flip());
    boolean[] values = new boolean[4];
    tensor.copyTo(values);
    assertThat(values).containsExactly(false, true, true, true);
    tensor.copyFrom(new boolean[] {true, false, false, true});
    byte[] bytes = new byte[4];
    tensor.copyTo(bytes);
    assertThat(bytes).containsExactly(1, 0, 0, 1);
  }

  @Test
  void aSliceIsTheSameMemory() {
    HostTensor tensor = floats(0, 1, 2, 3, 4, 5);
    HostTensor slice = tensor.slice(1, 4).slice(1, 2);
    assertThat(floats(slice)).containsExactly(2, 3);
    slice.copyFrom(new float[] {20, 30});
    assertThat(floats(tensor)).containsExactly(0, 1, 20, 30, 4, 5);
    assertThat(slice.shape()).containsExactly(2);
    assertThat(slice.array()).isSameAs(tensor.array());
  }

  @Test
  void rowsKeepTheOtherDimensions() {
    Tensor matrix = floats(0, 1, 2, 3, 4, 5).reshape(3, 2);
    Tensor rows = matrix.narrow(1, 2);
    assertThat(rows.shape()).containsExactly(2, 2);
    assertThat(rows.array()).isSameAs(matrix.array());
    rows.copyFrom(new float[] {20, 30, 40, 50});
    assertThat(floats(HostTensor.of(matrix))).containsExactly(0, 1, 20, 30, 40, 50);
    assertThat(matrix.narrow(3, 0).shape()).containsExactly(0, 2);
    assertThat(matrix.slice(2, 4).shape()).as("a slice has one dimension").containsExactly(4);
    assertThat(matrix.reshape(1, 3, 2).narrow(0, 1).shape()).containsExactly(1, 3, 2);
    assertThat(matrix.slice(0, 0).reshape(0, 2).narrow(0, 0).shape()).containsExactly(0, 2);
  }

  @Test
  void rowsThatAreNotThereAreRefused() {
    Tensor matrix = floats(0, 1, 2, 3, 4, 5).reshape(3, 2);
    for (long[] wrong : new long[][] {{-1, 1}, {0, -1}, {0, 4}, {3, 1}, {Long.MAX_VALUE, 1}}) {
      assertThatThrownBy(() -> matrix.narrow(wrong[0], wrong[1]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("are not all within float32[3, 2]");
    }
    assertThatThrownBy(() -> floats(1).reshape().narrow(0, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aTensorIsAllocatedWithAShape() {
    assertThat(Tensor.allocate(DType.INT32, 3, 4).shape()).containsExactly(3, 4);
    assertThat(Tensor.allocate(DType.INT32, 12).shape()).containsExactly(12);
    assertThat(Tensor.allocate(DType.INT32, new long[0]).count()).isOne();
    assertThatThrownBy(() -> Tensor.allocate(DType.INT32, 3, -4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("negative extent");
  }

  @Test
  void aSliceMayBeEmptyAtEitherEnd() {
    HostTensor tensor = floats(1, 2, 3);
    assertThat(tensor.slice(0, 0).count()).isZero();
    assertThat(tensor.slice(3, 0).count()).isZero();
    assertThat(tensor.slice(0, 3).count()).isEqualTo(3);
  }

  @Test
  void aSliceOutOfRangeIsRefused() {
    HostTensor tensor = memory.allocate(DType.FLOAT32, COUNT);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.slice(2000, 501))
        .withMessage(
            "The range of 501 elements from 2,000 on is not within the 2,500 elements of"
                + " float32[2500]");
    long[][] ranges = {
      {-1, 1},
      {0, -1},
      {2501, 0},
      {2501, -1},
      {Long.MAX_VALUE, 1},
      {1, Long.MAX_VALUE},
      {Long.MIN_VALUE, 1},
      {Long.MAX_VALUE, Long.MAX_VALUE},
      {1, Long.MIN_VALUE}
    };
    for (long[] range : ranges) {
      assertThatIllegalArgumentException()
          .as("from %d, %d elements", range[0], range[1])
          .isThrownBy(() -> tensor.slice(range[0], range[1]));
    }
  }

  @Test
  void aTensorOfNothingCanBeUsed() {
    for (DType dtype : DType.values()) {
      HostTensor tensor = memory.allocate(dtype, 0);
      assertThat(tensor.count()).isZero();
      assertThat(tensor.byteSize()).isZero();
      assertThat(tensor.shape()).containsExactly(0);
      tensor.read(0, 0, TensorMemory.direct(0));
      tensor.write(0, 0, TensorMemory.direct(0));
      tensor.copyFrom(memory.allocate(dtype, 0));
      assertThat(tensor.reshape(3, 0, 5).shape()).containsExactly(3, 0, 5);
      assertThat(tensor.reshape(Long.MAX_VALUE, 0, Long.MAX_VALUE).count()).isZero();
    }
  }

  @Test
  void anotherShapeIsTheSameMemory() {
    HostTensor tensor = floats(1, 2, 3, 4, 5, 6);
    HostTensor matrix = tensor.reshape(2, 3);
    assertThat(matrix.shape()).containsExactly(2, 3);
    assertThat(matrix).hasToString("float32[2, 3]");
    matrix.slice(4, 1).copyFrom(new float[] {50});
    assertThat(floats(tensor)).containsExactly(1, 2, 3, 4, 50, 6);
    assertThat(matrix.slice(1, 2).shape()).containsExactly(2);
  }

  @Test
  void aSingleElementNeedsNoDimension() {
    HostTensor scalar = floats(7).reshape();
    assertThat(scalar.shape()).isEmpty();
    assertThat(scalar.count()).isOne();
    assertThat(floats(scalar)).containsExactly(7);
    assertThat(scalar).hasToString("float32[]");
  }

  @Test
  void theShapeCannotBeChangedFromOutside() {
    long[] shape = {2, 3};
    HostTensor tensor = floats(1, 2, 3, 4, 5, 6).reshape(shape);
    shape[0] = 9;
    tensor.shape()[1] = 9;
    assertThat(tensor.shape()).containsExactly(2, 3);
  }

  @Test
  void aShapeThatDoesNotFitIsRefused() {
    HostTensor tensor = floats(1, 2, 3, 4, 5, 6);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.reshape(2, 4))
        .withMessage("float32[6] has 6 elements and cannot be reshaped to [2, 4]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.reshape(-2, -3))
        .withMessage("The shape [-2, -3] has a negative extent");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.reshape(1L << 32, 1L << 32, 6))
        .withMessage("The shape [4294967296, 4294967296, 6] has more than 2^63 - 1 elements");
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.reshape());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.reshape((long[]) null))
        .withMessage("The shape is null");
  }

  @Test
  void aCopyThatDoesNotFitIsRefused() {
    HostTensor tensor = floats(1, 2, 3, 4, 5, 6).reshape(2, 3);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.copyTo(new double[6]))
        .withMessage("A tensor of float32 lies in a float[], not in double[]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.copyFrom((Object) null))
        .withMessage("A tensor of float32 lies in a float[], not in null");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.copyTo(new float[7]))
        .withMessage("float32[2, 3] cannot be copied to a float[] of length 7: it takes 6");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.copyFrom(new float[5]))
        .withMessage("float32[2, 3] cannot be copied from a float[] of length 5: it takes 6");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.copyFrom(Tensor.of(1d, 2d, 3d, 4d, 5d, 6d)))
        .withMessage(
            "float32[2, 3] cannot be copied from float64[6]: types and counts must be equal");
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.copyFrom(Tensor.of(1f)));
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.copyFrom((Tensor) null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.copyFrom(0, HostTensor.wrap(DType.INT32, new int[6]), 0, 6));
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.copyFrom(1, tensor, 0, 6));
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.copyFrom(0, tensor, 1, 6));
    assertThat(floats(tensor)).containsExactly(1, 2, 3, 4, 5, 6);
  }

  @Test
  void aBufferWithoutEnoughRoomIsRefusedAndNothingMoves() {
    HostTensor tensor = memory.allocate(DType.FLOAT32, COUNT);
    ByteBuffer full = TensorMemory.direct(4 * COUNT - 1).put(0, (byte) 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.write(0, COUNT, full))
        .withMessage("float32 x 2,500 takes 10,000 bytes, but 9,999 remain in the buffer");
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.read(0, COUNT, full));
    assertThat(full.position()).isZero();
    assertThat(full.get(0)).isOne();
    assertThat(floats(tensor)).containsOnly(0);
  }

  @Test
  void aRangeOutsideOfTheTensorIsNotMoved() {
    HostTensor tensor = memory.allocate(DType.FLOAT32, 10);
    ByteBuffer staging = TensorMemory.direct(100);
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.read(8, 3, staging));
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.write(-1, 3, staging));
    assertThatIllegalArgumentException().isThrownBy(() -> tensor.toArray(8, 3, new float[100], 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tensor.fromArray(8, 3, new float[100], 0));
    assertThat(staging.position()).isZero();
  }

  @Test
  void aHostTensorLiesOnTheHost() {
    assertThat(memory.allocate(DType.INT8, 1).device()).isEqualTo(Device.CPU);
  }
}
