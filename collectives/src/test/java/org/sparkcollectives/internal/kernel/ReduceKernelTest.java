package org.sparkcollectives.internal.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorMemory;

class ReduceKernelTest {

  private static final List<ReduceOp> OPERATIONS =
      List.of(
          ReduceOp.SUM,
          ReduceOp.AVG,
          ReduceOp.PRODUCT,
          ReduceOp.MIN,
          ReduceOp.MAX,
          ReduceOp.BAND,
          ReduceOp.BOR,
          ReduceOp.BXOR,
          ReduceOp.premulSum(0.3));

  /** Counts around the length of a tile, of complex numbers and of all others. */
  private static final int[] COUNTS = {0, 1, 7, 511, 512, 513, 1023, 1024, 1025, 5000};

  static Stream<Arguments> reductions() {
    return Stream.of(DType.values())
        .flatMap(
            dtype ->
                OPERATIONS.stream()
                    .filter(op -> op.supports(dtype))
                    .map(op -> Arguments.of(dtype, op)));
  }

  static Stream<Arguments> refusedReductions() {
    return Stream.of(DType.values())
        .flatMap(
            dtype ->
                OPERATIONS.stream()
                    .filter(op -> !op.supports(dtype))
                    .map(op -> Arguments.of(dtype, op)));
  }

  private static List<ByteBuffer> contributions(DType dtype, int ranks, int count, Random random) {
    List<ByteBuffer> contributions = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      contributions.add(ReferenceReduction.random(dtype, count, random));
    }
    return contributions;
  }

  /**
   * Returns a contribution as it comes from the network: multiplied by its sender, at any address.
   */
  private static ByteBuffer staged(
      ReduceKernel kernel, ByteBuffer contribution, int misalignment, TensorMemory senders) {
    HostTensor tensor = senders.tensor(kernel.inputType(), contribution);
    kernel.premultiply(tensor, 0, tensor.count());
    ByteBuffer staging = TensorMemory.direct(misalignment + (int) tensor.byteSize() + 3);
    staging.position(misalignment);
    tensor.read(0, (int) tensor.count(), staging);
    return staging.flip().position(misalignment);
  }

  private static HostTensor accumulator(
      ReduceKernel kernel, TensorMemory memory, HostTensor input) {
    kernel.premultiply(input, 0, input.count());
    if (kernel.reducesInPlace()) {
      return input;
    }
    HostTensor accumulator = memory.allocate(kernel.accumulatorType(), (int) input.count());
    kernel.load(accumulator, 0, input, 0, input.count());
    return accumulator;
  }

  private static ByteBuffer expected(DType dtype, ReduceOp op, List<ByteBuffer> contributions) {
    return ReferenceReduction.canonical(dtype, ReferenceReduction.reduce(dtype, op, contributions));
  }

  private static void assertReduced(ByteBuffer expected, HostTensor result, String how) {
    ByteBuffer actual = ReferenceReduction.canonical(result.dtype(), TensorMemory.elements(result));
    assertThat(actual.mismatch(expected))
        .as("first different byte of %s, %s", result, how)
        .isEqualTo(-1);
  }

  @ParameterizedTest
  @MethodSource("reductions")
  void messagesAreReducedInTheirOrder(DType dtype, ReduceOp op) {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    ReduceKernel kernel = ReduceKernels.of(op, dtype);
    for (int count : COUNTS) {
      List<ByteBuffer> contributions = contributions(dtype, 3, count, random);
      ByteBuffer expected = expected(dtype, op, contributions);
      for (TensorMemory memory : TensorMemory.values()) {
        for (int misalignment : new int[] {0, 1, 3}) {
          HostTensor tensor = memory.tensor(dtype, contributions.get(0));
          HostTensor accumulator = accumulator(kernel, memory, tensor);
          for (ByteBuffer contribution : contributions.subList(1, 3)) {
            ByteBuffer message = staged(kernel, contribution, misalignment, memory);
            int first = count / 3;
            kernel.accumulate(accumulator, 0, first, message);
            kernel.accumulate(accumulator, first, count - first, message);
            assertThat(message.remaining()).isZero();
          }
          kernel.finish(tensor, 0, accumulator, 0, count, 3);
          assertReduced(
              expected, tensor, memory + ", misaligned by " + misalignment + ", seed " + seed);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("reductions")
  void tensorsAreReducedInTheirOrder(DType dtype, ReduceOp op) {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    ReduceKernel kernel = ReduceKernels.of(op, dtype);
    for (int count : COUNTS) {
      List<ByteBuffer> contributions = contributions(dtype, 3, count, random);
      ByteBuffer expected = expected(dtype, op, contributions);
      for (TensorMemory memory : TensorMemory.values()) {
        for (TensorMemory others : TensorMemory.values()) {
          HostTensor tensor = memory.tensor(dtype, contributions.get(0));
          HostTensor accumulator = accumulator(kernel, memory, tensor);
          for (ByteBuffer contribution : contributions.subList(1, 3)) {
            HostTensor other = others.tensor(dtype, contribution);
            kernel.premultiply(other, 0, count);
            kernel.accumulate(accumulator, 0, other, 0, count);
          }
          kernel.finish(tensor, 0, accumulator, 0, count, 3);
          assertReduced(expected, tensor, memory + " from " + others + ", seed " + seed);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("reductions")
  void aReductionOfOneContributionIsThatContribution(DType dtype, ReduceOp op) {
    long seed = new Random().nextLong();
    ReduceKernel kernel = ReduceKernels.of(op, dtype);
    List<ByteBuffer> contributions = contributions(dtype, 1, 1500, new Random(seed));
    ByteBuffer expected = expected(dtype, op, contributions);
    for (TensorMemory memory : TensorMemory.values()) {
      HostTensor tensor = memory.tensor(dtype, contributions.get(0));
      HostTensor accumulator = accumulator(kernel, memory, tensor);
      kernel.finish(tensor, 0, accumulator, 0, 1500, 1);
      assertReduced(expected, tensor, memory + ", seed " + seed);
    }
  }

  @ParameterizedTest
  @MethodSource("reductions")
  void onlyTheGivenRangeIsWritten(DType dtype, ReduceOp op) {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    ReduceKernel kernel = ReduceKernels.of(op, dtype);
    int count = 2000;
    int from = 300;
    int length = 1100;
    int width = dtype.bytes();
    for (TensorMemory memory : TensorMemory.values()) {
      ByteBuffer before = ReferenceReduction.random(dtype, count, random);
      HostTensor result = memory.tensor(dtype, before);
      before = TensorMemory.elements(result);
      HostTensor source = memory.tensor(dtype, ReferenceReduction.random(dtype, count, random));
      HostTensor accumulator = memory.allocate(kernel.accumulatorType(), count);

      kernel.premultiply(result, from, length);
      kernel.load(accumulator, from, result, from, length);
      kernel.accumulate(accumulator, from, source, 50, length);
      kernel.accumulate(accumulator, from, length, TensorMemory.elements(source));
      kernel.finish(result, from, accumulator, from, length, 3);

      ByteBuffer after = TensorMemory.elements(result);
      String how = memory + ", seed " + seed;
      assertThat(after.slice(0, from * width)).as(how).isEqualTo(before.slice(0, from * width));
      int end = from + length;
      assertThat(after.slice(end * width, (count - end) * width))
          .as(how)
          .isEqualTo(before.slice(end * width, (count - end) * width));
      ByteBuffer sums = TensorMemory.elements(accumulator);
      int sumWidth = kernel.accumulatorType().bytes();
      assertThat(sums.slice(0, from * sumWidth))
          .as(how)
          .isEqualTo(TensorMemory.direct(from * sumWidth));
      assertThat(sums.slice(end * sumWidth, (count - end) * sumWidth))
          .as(how)
          .isEqualTo(TensorMemory.direct((count - end) * sumWidth));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT16", "BFLOAT16"})
  void halvesAreRoundedOnceAtTheEnd(DType dtype) {
    boolean bfloat = dtype == DType.BFLOAT16;
    // This is half of the last place of 1: one added to 1 is lost, two are not.
    float tiny = bfloat ? 0x1p-8f : 0x1p-11f;
    short one = bfloat ? BFloat16.fromFloat(1) : Float16.fromFloat(1);
    short small = bfloat ? BFloat16.fromFloat(tiny) : Float16.fromFloat(tiny);
    ReduceKernel kernel = ReduceKernels.of(ReduceOp.SUM, dtype);
    assertThat(kernel.accumulatorType()).isEqualTo(DType.FLOAT32);
    short[] values = {one};
    HostTensor tensor = HostTensor.wrap(dtype, values);
    HostTensor sum = HostTensor.allocate(DType.FLOAT32, 1);
    kernel.load(sum, 0, tensor, 0, 1);
    kernel.accumulate(sum, 0, HostTensor.wrap(dtype, new short[] {small}), 0, 1);
    kernel.accumulate(sum, 0, HostTensor.wrap(dtype, new short[] {small}), 0, 1);
    kernel.finish(tensor, 0, sum, 0, 1, 3);
    float result = bfloat ? BFloat16.toFloat(values[0]) : Float16.toFloat(values[0]);
    assertThat(result).isEqualTo(1 + 2 * tiny);
  }

  @Test
  void extremesOfFloatsFollowTheRulesOfMath() {
    float[] values = {0f, -0f, Float.NaN, 1f};
    float[] others = {-0f, 0f, 1f, Float.NaN};
    HostTensor minimum = HostTensor.wrap(DType.FLOAT32, values.clone());
    ReduceKernels.of(ReduceOp.MIN, DType.FLOAT32)
        .accumulate(minimum, 0, HostTensor.wrap(DType.FLOAT32, others), 0, 4);
    assertThat((float[]) minimum.array()).containsExactly(-0f, -0f, Float.NaN, Float.NaN);
    HostTensor maximum = HostTensor.wrap(DType.FLOAT32, values.clone());
    ReduceKernels.of(ReduceOp.MAX, DType.FLOAT32)
        .accumulate(maximum, 0, HostTensor.wrap(DType.FLOAT32, others), 0, 4);
    assertThat((float[]) maximum.array()).containsExactly(0f, 0f, Float.NaN, Float.NaN);
  }

  @Test
  void signedAndUnsignedBytesDifferInTheirExtremesOnly() {
    byte[] values = {(byte) 200, 100};
    byte[] others = {100, (byte) 200};
    HostTensor unsigned = HostTensor.wrap(DType.UINT8, values.clone());
    ReduceKernels.of(ReduceOp.MAX, DType.UINT8)
        .accumulate(unsigned, 0, HostTensor.wrap(DType.UINT8, others), 0, 2);
    assertThat((byte[]) unsigned.array()).containsExactly(200, 200);
    HostTensor signed = HostTensor.wrap(DType.INT8, values.clone());
    ReduceKernels.of(ReduceOp.MAX, DType.INT8)
        .accumulate(signed, 0, HostTensor.wrap(DType.INT8, others), 0, 2);
    assertThat((byte[]) signed.array()).containsExactly(100, 100);
    HostTensor product = HostTensor.wrap(DType.INT8, new byte[] {49});
    ReduceKernels.of(ReduceOp.PRODUCT, DType.INT8)
        .accumulate(product, 0, HostTensor.wrap(DType.INT8, new byte[] {7}), 0, 1);
    assertThat((byte[]) product.array()).containsExactly(87);
  }

  @ParameterizedTest
  @MethodSource("refusedReductions")
  void anUnsupportedReductionIsRefusedByName(DType dtype, ReduceOp op) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ReduceKernels.of(op, dtype))
        .withMessageStartingWith(op + " cannot be applied to " + dtype.label());
  }

  @Test
  void theRefusalSaysWhatWouldWork() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ReduceKernels.of(ReduceOp.MAX, DType.COMPLEX64))
        .withMessage(
            "MAX cannot be applied to complex64. complex64 can be reduced by SUM, AVG, PREMUL_SUM;"
                + " MAX works on bool, uint8, int8, int16, int32, int64, float16, bfloat16,"
                + " float32, float64");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ReduceKernels.of(ReduceOp.BAND, DType.FLOAT8_E4M3))
        .withMessage(
            "BAND cannot be applied to float8_e4m3. float8_e4m3 is moved, never reduced; BAND works"
                + " on bool, uint8, int8, int16, int32, int64");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ReduceKernels.of(null, DType.INT8))
        .withMessage("A reduction needs an operation and a type, not null of INT8");
    assertThatIllegalArgumentException().isThrownBy(() -> ReduceKernels.of(ReduceOp.SUM, null));
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT16", "FLOAT32", "INT64", "COMPLEX128"})
  void whatDoesNotFitIsRefusedBeforeAnythingIsWritten(DType dtype) {
    ReduceKernel kernel = ReduceKernels.of(ReduceOp.SUM, dtype);
    HostTensor accumulator = HostTensor.allocate(kernel.accumulatorType(), 3000);
    ByteBuffer ones = ReferenceReduction.random(dtype, 3000, new Random(1));
    HostTensor source = TensorMemory.HEAP.tensor(dtype, ones);
    HostTensor result = HostTensor.allocate(dtype, 3000);
    HostTensor foreign = HostTensor.allocate(DType.INT8, 3000);
    ByteBuffer message = TensorMemory.elements(source);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> kernel.accumulate(foreign, 0, 10, message))
        .withMessage(
            "The accumulator must be of "
                + kernel.accumulatorType().label()
                + ", but is int8[3000]");
    List<Runnable> misfits =
        List.of(
            () -> kernel.accumulate(accumulator, 1, 3000, message),
            () -> kernel.accumulate(accumulator.slice(0, 2999), 0, 3000, message),
            () -> kernel.accumulate(accumulator, 0, 3000, message.duplicate().limit(999)),
            () -> kernel.accumulate(accumulator, 0, -1, message),
            () -> kernel.accumulate(accumulator, 0, foreign, 0, 10),
            () -> kernel.accumulate(accumulator, 1, source, 0, 3000),
            () -> kernel.accumulate(accumulator, 0, source, 1, 3000),
            () -> kernel.load(accumulator, 0, foreign, 0, 10),
            () -> kernel.load(foreign, 0, source, 0, 10),
            () -> kernel.load(accumulator, 0, source, 1, 3000),
            () -> kernel.premultiply(foreign, 0, 10),
            () -> kernel.premultiply(source, 1, 3000),
            () -> kernel.finish(result, 0, foreign, 0, 10, 1),
            () -> kernel.finish(foreign, 0, accumulator, 0, 10, 1),
            () -> kernel.finish(result, 1, accumulator, 0, 3000, 1),
            () -> kernel.finish(result, 0, accumulator, 0, 3000, 0));
    for (int i = 0; i < misfits.size(); i++) {
      assertThatIllegalArgumentException().as("misfit %d", i).isThrownBy(misfits.get(i)::run);
    }
    assertThat(message.position()).isZero();
    assertThat(TensorMemory.elements(accumulator))
        .isEqualTo(TensorMemory.direct((int) accumulator.byteSize()));
    assertThat(TensorMemory.elements(source)).isEqualTo(ones);
  }
}
