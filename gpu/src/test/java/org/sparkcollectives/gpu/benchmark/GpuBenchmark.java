package org.sparkcollectives.gpu.benchmark;

import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.gpu.nccl.NcclLaunchBenchmark;

/**
 * Measures the cost of this library beside the bare GPU, on one GPU: prints tables for {@code
 * docs/internals/measurements/gpu.md}. The only argument is optional: {@code quick} for small sizes
 * and few repetitions, to see that it runs.
 */
public final class GpuBenchmark {

  private GpuBenchmark() {}

  /** Measures everything. */
  public static void main(String[] arguments) {
    boolean quick = arguments.length > 0 && arguments[0].equals("quick");
    try (CudaDevice device = CudaDevice.open(DriverCuda.load(), 0);
        CudaStream stream = CudaStream.create(device, false)) {
      System.out.println(device + ", driver for CUDA " + device.cuda().driverVersion());
      CudaStream.Use use = stream.use();
      GpuTimer timer = new GpuTimer(device, stream, quick ? 3 : 50);
      new KernelBenchmark(device, stream, timer, quick).run();
      new StagedBenchmark(device, stream, timer, quick).run();
      new NcclLaunchBenchmark(device, stream, quick).run();
      use.close();
    }
  }
}
