package org.sparkcollectives.gpu.benchmark;

import java.util.Arrays;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;

/** Measures the work of a stream by the GPU's own clock. */
public final class GpuTimer {

  private static final int WARM_UP = 3;

  /** A virtual machine compiles while it runs; calls of milliseconds are few in this time. */
  private static final double HOST_WARM_UP_SECONDS = 1;

  private final CudaDevice device;
  private final CudaStream stream;
  private final int repetitions;

  GpuTimer(CudaDevice device, CudaStream stream, int repetitions) {
    this.device = device;
    this.stream = stream;
    this.repetitions = repetitions;
  }

  /** Returns the median time in seconds of the work that {@code work} puts into the stream. */
  double seconds(Runnable work) {
    for (int i = 0; i < WARM_UP; i++) {
      work.run();
    }
    stream.synchronize();
    double[] seconds = new double[repetitions];
    Cuda cuda = device.cuda();
    long previous = device.enter();
    long begin = cuda.createEvent(true);
    long end = cuda.createEvent(true);
    try {
      for (int i = 0; i < repetitions; i++) {
        cuda.recordEvent(begin, stream.handle());
        work.run();
        cuda.recordEvent(end, stream.handle());
        stream.synchronize();
        seconds[i] = cuda.elapsedMillis(begin, end) / 1e3;
      }
    } finally {
      cuda.destroyEvent(begin);
      cuda.destroyEvent(end);
      device.leave(previous);
    }
    return median(seconds);
  }

  /** Returns the median time in seconds that a blocking call takes on the host. */
  double hostSeconds(Runnable call) {
    double warmUp = repetitions > WARM_UP ? HOST_WARM_UP_SECONDS : 0;
    long start = System.nanoTime();
    do {
      call.run();
    } while (System.nanoTime() - start < warmUp * 1e9);
    double[] seconds = new double[repetitions];
    for (int i = 0; i < repetitions; i++) {
      long begin = System.nanoTime();
      call.run();
      seconds[i] = (System.nanoTime() - begin) / 1e9;
    }
    return median(seconds);
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
