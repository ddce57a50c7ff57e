package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;

/**
 * Runs one rank that calls NCCL through the bindings alone. Arguments: rank, size, port of the
 * store, and the test.
 */
final class NcclProgram {

  /** The last line that is printed. */
  static final String DONE = "done as it should be";

  private NcclProgram() {}

  /** Throws if a check fails. */
  public static void main(String[] arguments) throws Exception {
    try (Store store =
            TcpStore.connect("127.0.0.1", Integer.parseInt(arguments[2]), Duration.ofSeconds(60));
        CudaDevice device = CudaDevice.open(DriverCuda.load(), 0)) {
      long previous = device.enter();
      try (CudaStream stream = CudaStream.create(device, false)) {
        CudaStream.Use use = stream.use();
        run(
            new NcclRank(
                Integer.parseInt(arguments[0]),
                Integer.parseInt(arguments[1]),
                store,
                device,
                stream),
            arguments[3]);
        use.close();
      }
      device.leave(previous);
    }
    System.out.println(DONE);
  }

  private static void run(NcclRank rank, String what) {
    NcclCallChecks calls = new NcclCallChecks(rank);
    NcclErrorChecks errors = new NcclErrorChecks(rank);
    switch (what) {
      case "calls" -> {
        assertThat(rank.nccl.canShrink()).isEqualTo(rank.nccl.version() >= 22700);
        assertThat(rank.nccl.canAllToAll()).isEqualTo(rank.nccl.version() >= 22803);
        calls.run(rank.init(true, 1));
      }
      case "scalable" -> calls.run(rank.init(true, 2));
      case "without blocking" -> calls.run(rank.init(false, 1));
      case "abort" -> errors.abort(rank.init(true, 1));
      case "death" -> errors.death(rank.init(true, 1));
      case "injected error" -> errors.injectedError(rank.init(true, 1));
      case "one GPU for two" -> errors.oneGpuForTwo();
      case "absent rank" -> errors.absentRank();
      default -> throw new IllegalArgumentException(what);
    }
  }
}
