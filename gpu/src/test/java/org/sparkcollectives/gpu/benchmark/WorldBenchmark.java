package org.sparkcollectives.gpu.benchmark;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;

/**
 * Measures the all-reduce of one rank of a world on one GPU; {@code peers.py} runs the ranks, and
 * the same with PyTorch. Arguments: rank, size, port of the store, which rank 0 opens, backend, and
 * for each figure {@code bytes:count}, the bytes of the tensor and how often it is reduced, after
 * as many operations that warm up. Rank 0 prints a line for each: the bytes, and the median time in
 * microseconds from the call until the GPU has the result.
 */
public final class WorldBenchmark {

  private final ProcessGroup world;
  private final CudaDevice device;
  private final CudaStream stream;

  private WorldBenchmark(ProcessGroup world, CudaDevice device, CudaStream stream) {
    this.world = world;
    this.device = device;
    this.stream = stream;
  }

  /** Measures all sizes. */
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[2]);
    if (arguments[0].equals("0")) {
      try (TcpStoreServer server = TcpStore.server("127.0.0.1", port)) {
        measure(0, server.port(), arguments);
      }
    } else {
      measure(Integer.parseInt(arguments[0]), port, arguments);
    }
  }

  private static void measure(int rank, int port, String[] arguments) {
    GroupOptions options =
        GroupOptions.defaults()
            .withTimeout(Duration.ofMinutes(5))
            .withBackend("cpu:netty,cuda:" + arguments[3]);
    try (Store store = TcpStore.connect("127.0.0.1", port, Duration.ofSeconds(60));
        CudaDevice device = CudaDevice.open(DriverCuda.load(), 0);
        CudaStream stream = CudaStream.create(device, false);
        ProcessGroup world =
            ProcessGroups.create(store, rank, Integer.parseInt(arguments[1]), options)) {
      CudaStream.Use use = stream.use();
      WorldBenchmark benchmark = new WorldBenchmark(world, device, stream);
      for (String figure : List.of(arguments).subList(4, arguments.length)) {
        String[] parts = figure.split(":", 2);
        double micros = benchmark.median(Long.parseLong(parts[0]), Integer.parseInt(parts[1]));
        if (rank == 0) {
          System.out.printf(Locale.ROOT, "%s %.2f%n", parts[0], micros);
        }
      }
      use.close();
      world.barrier().await();
    }
  }

  private double median(long bytes, int count) {
    DeviceTensor tensor = DeviceTensor.allocate(device, DType.FLOAT32, bytes / 4);
    tensor.copyFrom(new float[(int) tensor.count()]);
    double[] micros = new double[count];
    for (int i = -count; i < count; i++) {
      long begin = System.nanoTime();
      world.allReduce(tensor, ReduceOp.SUM).synchronize(stream);
      stream.synchronize();
      if (i >= 0) {
        micros[i] = (System.nanoTime() - begin) / 1e3;
      }
    }
    tensor.free();
    Arrays.sort(micros);
    return micros[count / 2];
  }
}
