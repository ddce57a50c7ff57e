package org.sparkcollectives.gpu.benchmark;

import java.util.Locale;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.PinnedBuffer;
import org.sparkcollectives.store.HashStore;

/**
 * Measures an all-reduce through the host in a world of one rank, beside the bare copies over the
 * bus. Such an all-reduce consists of its two copies and the overhead of this library.
 */
final class StagedBenchmark {

  private final CudaDevice device;
  private final CudaStream stream;
  private final GpuTimer timer;
  private final int[] sizes;

  StagedBenchmark(CudaDevice device, CudaStream stream, GpuTimer timer, boolean quick) {
    this.device = device;
    this.stream = stream;
    this.timer = timer;
    this.sizes = quick ? new int[] {1 << 20} : new int[] {1 << 20, 16 << 20, 256 << 20};
  }

  void run() {
    System.out.printf(Locale.ROOT, "%nAll-reduce by way of the host, one rank%n");
    GroupOptions options = GroupOptions.defaults().withBackend("cpu:netty,cuda:netty");
    try (HashStore store = new HashStore();
        ProcessGroup world = ProcessGroups.create(store, 0, 1, options)) {
      for (int bytes : sizes) {
        measure(world, bytes);
      }
    }
  }

  private void measure(ProcessGroup world, int bytes) {
    DeviceTensor tensor = DeviceTensor.allocate(device, DType.FLOAT32, bytes / 4);
    try (PinnedBuffer pinned = device.pin(bytes)) {
      double out = timer.seconds(() -> toHost(pinned, tensor, bytes));
      double in = timer.seconds(() -> toDevice(pinned, tensor, bytes));
      double whole = timer.hostSeconds(() -> world.allReduce(tensor, ReduceOp.SUM).await());
      System.out.printf(
          Locale.ROOT,
          "  %,12d bytes: to the host %6.1f GB/s, back %6.1f GB/s; all-reduce %9.1f us, of which"
              + " the bare copies are %5.1f %%%n",
          bytes,
          bytes / out / 1e9,
          bytes / in / 1e9,
          whole * 1e6,
          100 * (out + in) / whole);
    } finally {
      tensor.free();
    }
  }

  private void toHost(PinnedBuffer pinned, DeviceTensor tensor, int bytes) {
    long previous = device.enter();
    device.cuda().copyToHost(pinned.address(), tensor.address(), bytes, stream.handle());
    device.leave(previous);
  }

  private void toDevice(PinnedBuffer pinned, DeviceTensor tensor, int bytes) {
    long previous = device.enter();
    device.cuda().copyToDevice(tensor.address(), pinned.address(), bytes, stream.handle());
    device.leave(previous);
  }
}
