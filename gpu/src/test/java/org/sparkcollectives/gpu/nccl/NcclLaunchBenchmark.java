package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
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

/**
 * Measures the time that a call takes until it returns: bare {@code ncclAllReduce} and ours, in
 * rounds that take turns.
 */
public final class NcclLaunchBenchmark {

  private static final int FLOAT32 = 7;
  private static final int SUM = 0;
  private static final int CALLS = 64;

  private final CudaDevice device;
  private final CudaStream stream;
  private final int warmUp;
  private final int rounds;

  /** Creates the benchmark on a GPU; {@code quick} only checks that it runs. */
  public NcclLaunchBenchmark(CudaDevice device, CudaStream stream, boolean quick) {
    this.device = device;
    this.stream = stream;
    this.warmUp = quick ? 1 : 500;
    this.rounds = quick ? 3 : 500;
  }

  /** A measured call, and the action that waits until all started operations are done. */
  private record Contender(Runnable call, Runnable finish, double[] seconds) {}

  /** Measures all contenders. */
  public void run() {
    DeviceTensor tensor = DeviceTensor.allocate(device, DType.FLOAT32, 1024);
    long previous = device.enter();
    Nccl nccl = NativeNccl.load("");
    long communicator = communicator(nccl);
    try (HashStore store = new HashStore();
        ProcessGroup group =
            ProcessGroups.create(
                store, 0, 1, GroupOptions.defaults().withBackend("cpu:netty,cuda:nccl"))) {
      Contender bare =
          contender(
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
      Contender ours = ours(group, tensor);
      measure(List.of(bare, ours));
      System.out.printf(
          Locale.ROOT, "%nCall of an all-reduce of 4 KiB, one rank, until it returns%n%n");
      print("ncclAllReduce", bare, bare);
      print("ours", ours, bare);
    } finally {
      check(nccl, nccl.commDestroy(communicator));
      device.leave(previous);
      tensor.free();
    }
  }

  private Contender contender(Runnable call, Runnable finish) {
    return new Contender(call, finish, new double[rounds]);
  }

  private Contender ours(ProcessGroup group, DeviceTensor tensor) {
    Work[] last = new Work[1];
    return contender(() -> last[0] = group.allReduce(tensor, ReduceOp.SUM), () -> last[0].await());
  }

  /**
   * Measures the mean times of a round's calls. The operations of one round are done before the
   * next begins.
   */
  private void measure(List<Contender> contenders) {
    for (int round = -warmUp; round < rounds; round++) {
      for (Contender each : contenders) {
        long begin = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
          each.call.run();
        }
        double seconds = (System.nanoTime() - begin) / 1e9 / CALLS;
        each.finish.run();
        if (round >= 0) {
          each.seconds[round] = seconds;
        }
      }
    }
    contenders.forEach(each -> Arrays.sort(each.seconds));
  }

  private static void print(String name, Contender contender, Contender bare) {
    double median = contender.seconds[contender.seconds.length / 2];
    System.out.printf(
        Locale.ROOT,
        "%-22s %8.2f us   %8.2f us more%n",
        name,
        median * 1e6,
        (median - bare.seconds[bare.seconds.length / 2]) * 1e6);
  }

  private static long communicator(Nccl nccl) {
    byte[] id = new byte[Nccl.UNIQUE_ID_BYTES];
    ByteBuffer slot = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    check(nccl, nccl.uniqueId(id));
    check(nccl, nccl.commInit(slot, 1, 0, id, new NcclSettings(true).encode()));
    return slot.getLong(0);
  }

  private static void check(Nccl nccl, int result) {
    if (result != 0) {
      throw new AssertionError(nccl.errorString(result) + ": " + nccl.lastError(0));
    }
  }
}
