package org.sparkcollectives.gpu.testing;

import java.time.Duration;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;

/**
 * Runs one rank of a group that calls every collective on its GPU, in a stream of its own, and
 * compares the results. Arguments: rank, size, port of the store, and backend.
 */
public final class CollectivesProgram {

  /** The last line that is printed. */
  public static final String DONE = "every collective is done";

  private CollectivesProgram() {}

  /** Throws if a result is wrong. */
  public static void main(String[] arguments) throws Exception {
    int rank = Integer.parseInt(arguments[0]);
    int size = Integer.parseInt(arguments[1]);
    int port = Integer.parseInt(arguments[2]);
    GroupOptions options =
        GroupOptions.defaults()
            .withTimeout(Duration.ofSeconds(60))
            .withBackend("cpu:netty,cuda:" + arguments[3]);
    try (Store store = TcpStore.connect("127.0.0.1", port, Duration.ofSeconds(60));
        CudaDevice device = CudaDevice.open(DriverCuda.load(), 0);
        CudaStream stream = CudaStream.create(device, false);
        ProcessGroup world = ProcessGroups.create(store, rank, size, options)) {
      CudaStream.Use use = stream.use();
      for (int i = 0; i < 2; i++) {
        new EveryCollective(world, device, arguments[3].equals("netty")).run();
      }
      use.close();
    }
    NativeLeaks.check();
    System.out.println(DONE);
  }
}
