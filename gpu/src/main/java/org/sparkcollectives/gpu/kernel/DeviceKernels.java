package org.sparkcollectives.gpu.kernel;

import java.util.List;
import org.sparkcollectives.DeviceStream;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/**
 * Arithmetic on one GPU whose results equal the host's bit for bit: no fused operations, no fast
 * division, halves accumulated in float32 and rounded once.
 *
 * <p>Each call enqueues a kernel in a stream and returns; the tensors must not change until it is
 * done. The first call of a kind blocks while the driver compiles it. Thread-safe.
 */
public final class DeviceKernels implements AutoCloseable {

  /** The number of tensors that one reduction can take. */
  public static final int MAX_INPUTS = 16;

  private static final int THREADS = 256;

  /** Enough blocks to fill a large GPU; each thread loops over the elements that are left to it. */
  private static final int MAX_BLOCKS = 1024;

  private static final int BYTES_PER_LOAD = 16;

  private final CudaDevice device;
  private final KernelModules modules;

  /** Creates the kernels of a device; nothing is loaded yet. */
  public DeviceKernels(CudaDevice device) {
    this.device = device;
    this.modules = new KernelModules(device);
  }

  /**
   * Reduces tensors element by element in their order. {@link ReduceOp#AVG} divides by their
   * number.
   *
   * @param output may be one of the inputs
   * @param inputs 1 to {@value #MAX_INPUTS} of the type and count of the output
   * @throws IllegalArgumentException if they do not fit, or the reduction does not exist for the
   *     type
   */
  public void reduce(
      DeviceTensor output, List<DeviceTensor> inputs, ReduceOp op, DeviceStream stream) {
    if (inputs.isEmpty() || inputs.size() > MAX_INPUTS) {
      throw new IllegalArgumentException(
          "A reduction takes 1 to " + MAX_INPUTS + " tensors, not " + inputs.size());
    }
    inputs.forEach(each -> requireAlike(output, each));
    KernelName name = KernelName.reduce(op, output.dtype());
    long[] arguments = new long[4 + MAX_INPUTS];
    arguments[0] = output.address();
    arguments[1] = inputs.size();
    arguments[2] = output.count() * name.perElement();
    arguments[3] = Double.doubleToRawLongBits(inputs.size());
    // The kernel takes them as one parameter, which the driver reads from here to the end.
    for (int i = 0; i < inputs.size(); i++) {
      arguments[4 + i] = inputs.get(i).address();
    }
    launch(name, output, stream, arguments);
  }

  /**
   * Writes the product of each element and a factor: from float32 to a half type or back, or within
   * a type.
   *
   * @param output may be the input if they are of one type
   * @throws IllegalArgumentException if the counts differ, or there is no such conversion
   */
  public void convert(DeviceTensor output, DeviceTensor input, double factor, DeviceStream stream) {
    KernelName name = KernelName.convert(input.dtype(), output.dtype());
    requireHere(output);
    requireHere(input);
    if (input.count() != output.count()) {
      throw new IllegalArgumentException(
          "A conversion keeps the count: " + input + " cannot become " + output);
    }
    launch(
        name,
        output,
        stream,
        output.address(),
        input.address(),
        output.count() * name.perElement(),
        Double.doubleToRawLongBits(factor));
  }

  /**
   * Searches for elements that are NaN, and writes the index of one into the report. Writes nothing
   * if there is none, or if the type has no NaN.
   */
  public void nanCheck(DeviceTensor tensor, NanReport report, DeviceStream stream) {
    requireHere(tensor);
    KernelName name = KernelName.nanCheck(tensor.dtype());
    if (name != null) {
      launch(
          name,
          tensor,
          stream,
          tensor.address(),
          tensor.count() * name.perElement(),
          report.address());
    }
  }

  private void requireAlike(DeviceTensor output, DeviceTensor input) {
    requireHere(output);
    requireHere(input);
    if (output.dtype() != input.dtype() || output.count() != input.count()) {
      throw new IllegalArgumentException(
          "The tensors of a reduction must be of one type and count: " + input + " and " + output);
    }
  }

  private void requireHere(DeviceTensor tensor) {
    if (tensor.gpu().ordinal() != device.ordinal()) {
      throw new IllegalArgumentException(
          "The kernels of " + device.device() + " cannot reach " + tensor);
    }
  }

  private void launch(KernelName name, DeviceTensor sized, DeviceStream stream, long... arguments) {
    if (sized.count() == 0) {
      return;
    }
    long threads = Math.max(1, sized.byteSize() / BYTES_PER_LOAD);
    int blocks = (int) Math.min(MAX_BLOCKS, (threads + THREADS - 1) / THREADS);
    long previous = device.enter();
    try {
      device.cuda().launch(modules.function(name), blocks, THREADS, 0, stream.handle(), arguments);
    } finally {
      device.leave(previous);
    }
  }

  /** Unloads the kernels. Blocks until none of them runs. */
  @Override
  public void close() {
    modules.close();
  }
}
