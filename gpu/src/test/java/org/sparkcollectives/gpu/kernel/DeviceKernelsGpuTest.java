package org.sparkcollectives.gpu.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests every kernel against the arithmetic of the host, bit by bit. */
@Tag("gpu")
final class DeviceKernelsGpuTest {

  static final List<ReduceOp> REDUCTIONS =
      List.of(
          ReduceOp.SUM,
          ReduceOp.AVG,
          ReduceOp.PRODUCT,
          ReduceOp.MIN,
          ReduceOp.MAX,
          ReduceOp.BAND,
          ReduceOp.BOR,
          ReduceOp.BXOR);

  /** Some counts fill whole loads of 16 bytes, some do not. */
  private static final List<Integer> COUNTS = List.of(1, 16, 4099);

  private static CudaDevice device;
  private static CudaStream stream;
  private static CudaStream.Use use;
  private static DeviceKernels kernels;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  @BeforeAll
  static void open() {
    device = CudaDevice.open(DriverCuda.load(), 0);
    stream = CudaStream.create(device, false);
    use = stream.use();
    kernels = new DeviceKernels(device);
  }

  @AfterAll
  static void close() {
    use.close();
    stream.synchronize();
    kernels.close();
    stream.close();
    device.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"FLOAT8_E4M3", "FLOAT8_E5M2"})
  void aReductionHasTheBitsOfTheHost(DType dtype) {
    for (ReduceOp op : REDUCTIONS) {
      for (int count : COUNTS) {
        for (int inputs : new int[] {1, 2, 3, 7, DeviceKernels.MAX_INPUTS}) {
          if (op.supports(dtype)) {
            checkReduction(op, dtype, count, inputs, 0);
            checkReduction(op, dtype, count, inputs, 1);
          }
        }
      }
    }
  }

  /**
   * Checks a reduction. An offset of an element moves the tensors away from the alignment of whole
   * loads.
   */
  private void checkReduction(ReduceOp op, DType dtype, int count, int inputs, int offset) {
    List<HostTensor> hosts = new ArrayList<>();
    List<DeviceTensor> all = new ArrayList<>();
    List<DeviceTensor> parts = new ArrayList<>();
    for (int i = 0; i < inputs; i++) {
      HostTensor host = Elements.random(dtype, count + offset, random);
      hosts.add(host.slice(offset, count));
      DeviceTensor tensor = DeviceTensor.copyOf(device, host);
      all.add(tensor);
      parts.add(tensor.slice(offset, count));
    }
    // The last input is also the output.
    kernels.reduce(parts.get(inputs - 1), parts, op, stream);
    assertThat(Elements.bits(onHost(parts.get(inputs - 1))))
        .as("%s of %d x %s, %d inputs, seed %d", op, count, dtype, inputs, seed)
        .isEqualTo(Elements.bits(reduceOnHost(op, hosts)));
    all.forEach(DeviceTensor::free);
  }

  private static HostTensor reduceOnHost(ReduceOp op, List<HostTensor> inputs) {
    HostTensor first = inputs.get(0);
    ReduceKernel kernel = ReduceKernels.of(op, first.dtype());
    HostTensor accumulator = HostTensor.allocate(kernel.accumulatorType(), first.count());
    HostTensor result = HostTensor.allocate(first.dtype(), first.count());
    kernel.load(accumulator, 0, first, 0, first.count());
    for (HostTensor input : inputs.subList(1, inputs.size())) {
      kernel.accumulate(accumulator, 0, input, 0, input.count());
    }
    HostTensor last = kernel.reducesInPlace() ? accumulator : result;
    kernel.finish(last, 0, accumulator, 0, first.count(), inputs.size());
    return last;
  }

  private static HostTensor onHost(DeviceTensor tensor) {
    HostTensor host = HostTensor.allocate(tensor.dtype(), tensor.count());
    tensor.copyTo(host);
    return host;
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT16", "BFLOAT16"})
  void aConversionRoundsAsTheHostDoes(DType half) {
    for (int count : COUNTS) {
      HostTensor wide = Elements.random(DType.FLOAT32, count, random);
      DeviceTensor input = DeviceTensor.copyOf(device, wide);
      DeviceTensor output = DeviceTensor.allocate(device, half, count);
      kernels.convert(output, input, 0.125, stream);
      assertThat(Elements.bits(onHost(output)))
          .as("seed %d", seed)
          .isEqualTo(Elements.bits(narrow(wide, half, 0.125f)));
      kernels.convert(input, output, 3, stream);
      assertThat(Elements.bits(onHost(input)))
          .as("seed %d", seed)
          .isEqualTo(Elements.bits(widen(onHost(output), 3)));
      input.free();
      output.free();
    }
  }

  private static HostTensor narrow(HostTensor wide, DType half, float factor) {
    float[] values = new float[(int) wide.count()];
    wide.copyTo(values);
    short[] result = new short[values.length];
    for (int i = 0; i < values.length; i++) {
      float product = values[i] * factor;
      result[i] = half == DType.FLOAT16 ? Float16.fromFloat(product) : BFloat16.fromFloat(product);
    }
    return HostTensor.wrap(half, result);
  }

  private static HostTensor widen(HostTensor halves, float factor) {
    short[] values = new short[(int) halves.count()];
    halves.copyTo(values);
    float[] result = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      float value =
          halves.dtype() == DType.FLOAT16
              ? Float16.toFloat(values[i])
              : BFloat16.toFloat(values[i]);
      result[i] = value * factor;
    }
    return HostTensor.wrap(DType.FLOAT32, result);
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64", "COMPLEX64", "COMPLEX128"})
  void aProductWithAFactorHasTheBitsOfTheHost(DType dtype) {
    for (int count : COUNTS) {
      HostTensor host = Elements.random(dtype, count, random);
      DeviceTensor tensor = DeviceTensor.copyOf(device, host);
      kernels.convert(tensor, tensor, 0.1, stream);
      ReduceKernels.of(ReduceOp.premulSum(0.1), dtype).premultiply(host, 0, count);
      assertThat(Elements.bits(onHost(tensor))).as("seed %d", seed).isEqualTo(Elements.bits(host));
      tensor.free();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64"})
  void aCheckFindsTheOneThatIsNotANumber(DType dtype) {
    try (NanReport report = new NanReport(device)) {
      for (int count : COUNTS) {
        HostTensor host = HostTensor.allocate(dtype, count);
        DeviceTensor tensor = DeviceTensor.copyOf(device, host);
        kernels.nanCheck(tensor, report, stream);
        stream.synchronize();
        assertThat(report.index()).isEmpty();

        int place = random.nextInt(count);
        tensor.slice(place, 1).copyFrom(notANumber(dtype));
        kernels.nanCheck(tensor, report, stream);
        stream.synchronize();
        assertThat(report.index()).as("seed %d", seed).hasValue(place);
        report.clear();
        tensor.free();
      }
    }
  }

  private static Tensor notANumber(DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> Tensor.wrap(dtype, new short[] {Float16.fromFloat(Float.NaN)});
      case BFLOAT16 -> Tensor.wrap(dtype, new short[] {BFloat16.fromFloat(Float.NaN)});
      case FLOAT32 -> Tensor.of(Float.NaN);
      default -> Tensor.of(Double.NaN);
    };
  }

  @Test
  void infinitiesAreNumbers() {
    try (NanReport report = new NanReport(device)) {
      DeviceTensor tensor =
          DeviceTensor.copyOf(
              device, Tensor.of(Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0f));
      kernels.nanCheck(tensor, report, stream);
      stream.synchronize();
      assertThat(report.index()).isEmpty();
      tensor.free();
    }
  }

  @Test
  void tensorsThatDoNotFitAreRefused() {
    DeviceTensor four = DeviceTensor.allocate(device, DType.FLOAT32, 4);
    DeviceTensor five = DeviceTensor.allocate(device, DType.FLOAT32, 5);
    assertThatThrownBy(() -> kernels.reduce(four, List.of(four, five), ReduceOp.SUM, stream))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("one type and count");
    assertThatThrownBy(() -> kernels.reduce(four, List.of(four), ReduceOp.BXOR, stream))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("BXOR of float32");
    assertThatThrownBy(() -> kernels.convert(four, five, 1, stream))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("keeps the count");
    four.free();
    five.free();
  }
}
