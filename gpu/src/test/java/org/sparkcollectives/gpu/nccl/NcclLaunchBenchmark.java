package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.store.HashStore;

/** The time that a call takes until it returns: of ours, and of bare {@code ncclAllReduce}. */
public final class NcclLaunchBenchmark {

  private static final int FLOAT32 = 7;
  private static final int SUM = 0;
  private static final int CALLS = 64;

  private final CudaDevice device;
  private final CudaStream stream;
  private final int rounds;

  /** On a GPU; {@code quick} only sees that it runs. */
  public NcclLaunchBenchmark(CudaDevice device, CudaStream stream, boolean quick) {
    this.device = device;
    this.stream = stream;
    this.rounds = quick ? 3 : 500;
  }

  /** Measures both. */
  public void run() {
    DeviceTensor tensor = DeviceTensor.allocate(device, DType.FLOAT32, 1024);
    double bare = bare(tensor);
    double ours = ours(tensor);
    tensor.free();
    System.out.printf(
        Locale.ROOT,
        "%nCall of an all-reduce of 4 KiB, one rank: ncclAllReduce %.2f us, ours %.2f us, %.2f us"
            + " more%n",
        bare * 1e6,
        ours * 1e6,
        (ours - bare) * 1e6);
  }

  /** The median of the rounds' mean times in seconds; what is begun in one is done after it. */
  private double seconds(Runnable call, Runnable finish) {
    double[] seconds = new double[rounds];
    for (int round = 0; round < rounds; round++) {
      long begin = System.nanoTime();
      for (int i = 0; i < CALLS; i++) {
        call.run();
      }
      seconds[round] = (System.nanoTime() - begin) / 1e9 / CALLS;
      finish.run();
    }
    Arrays.sort(seconds);
    return seconds[rounds / 2];
  }

  private double bare(DeviceTensor tensor) {
    Nccl nccl = NativeNccl.load("");
    long previous = device.enter();
    byte[] id = new byte[Nccl.UNIQUE_ID_BYTES];
    ByteBuffer slot = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    check(nccl, nccl.uniqueId(id));
    check(nccl, nccl.commInit(slot, 1, 0, id, new NcclSettings(true).encode()));
    long communicator = slot.getLong(0);
    try {
      return seconds(
          () ->
              check(
                  nccl,
                  nccl.allReduce(
                      tensor.address(),
                      tensor.address(),
                      tensor.count(),
                      FLOAT32,
                      SUM,
                      communicator,
                      stream.handle())),
          stream::synchronize);
    } finally {
      check(nccl, nccl.commDestroy(communicator));
      device.leave(previous);
    }
  }

  private static void check(Nccl nccl, int result) {
    if (result != 0) {
      throw new AssertionError(nccl.errorString(result) + ": " + nccl.lastError(0));
    }
  }

  private double ours(DeviceTensor tensor) {
    GroupOptions options = GroupOptions.defaults().withBackend("cpu:netty,cuda:nccl");
    try (HashStore store = new HashStore();
        ProcessGroup world = ProcessGroups.create(store, 0, 1, options)) {
      Work[] last = new Work[1];
      return seconds(() -> last[0] = world.allReduce(tensor, ReduceOp.SUM), () -> last[0].await());
    }
  }
}
