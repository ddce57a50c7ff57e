package org.sparkcollectives.gpu.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.kernel.DeviceKernels;
import org.sparkcollectives.gpu.kernel.NanReport;

/**
 * Measures the kernels' memory traffic on the GPU, as a share of that of a copy on the device,
 * which stands for the speed of the memory.
 */
final class KernelBenchmark {

  private final CudaDevice device;
  private final CudaStream stream;
  private final GpuTimer timer;
  private final long bytes;
  private double copyRate;

  KernelBenchmark(CudaDevice device, CudaStream stream, GpuTimer timer, boolean quick) {
    this.device = device;
    this.stream = stream;
    this.timer = timer;
    this.bytes = quick ? 1 << 20 : 256 << 20;
  }

  void run() {
    System.out.printf(Locale.ROOT, "%nKernels on tensors of %,d bytes%n", bytes);
    List<DeviceTensor> tensors = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      tensors.add(DeviceTensor.allocate(device, DType.FLOAT32, bytes / 4));
    }
    DeviceTensor halves = DeviceTensor.allocate(device, DType.FLOAT16, bytes / 4);
    try (DeviceKernels kernels = new DeviceKernels(device);
        NanReport report = new NanReport(device)) {
      DeviceTensor first = tensors.get(0);
      copyRate = 2 * bytes / timer.seconds(() -> first.copyFrom(tensors.get(1)));
      System.out.printf(Locale.ROOT, "  %-28s %8.1f GB/s%n", "copy", copyRate / 1e9);
      for (int inputs : new int[] {2, 4, 8}) {
        print(
            "sum of " + inputs + " x float32",
            (inputs + 1) * bytes,
            () -> kernels.reduce(first, tensors.subList(0, inputs), ReduceOp.SUM, stream));
      }
      print("search for NaN, float32", bytes, () -> kernels.nanCheck(first, report, stream));
      print("float32 to float16", bytes * 3 / 2, () -> kernels.convert(halves, first, 1, stream));
      print("float16 to float32", bytes * 3 / 2, () -> kernels.convert(first, halves, 1, stream));
      print("float32 times a factor", 2 * bytes, () -> kernels.convert(first, first, 1, stream));
    } finally {
      tensors.forEach(DeviceTensor::free);
      halves.free();
    }
  }

  private void print(String name, long traffic, Runnable kernel) {
    double rate = traffic / timer.seconds(kernel);
    System.out.printf(
        Locale.ROOT,
        "  %-28s %8.1f GB/s %6.1f %% of the copy%n",
        name,
        rate / 1e9,
        100 * rate / copyRate);
  }
}
