package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.Device;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.gpu.testing.EveryCollective;
import org.sparkcollectives.gpu.testing.NativeLeaks;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;

/**
 * Runs one rank, a process, of an NCCL group in which something happens. Arguments: rank, size,
 * port of the store, and what happens.
 */
final class NcclRankProgram {

  /** The last line that is printed. */
  static final String DONE = "the rank is done";

  private NcclRankProgram() {}

  /** Throws if anything else happens. */
  public static void main(String[] arguments) throws Exception {
    int rank = Integer.parseInt(arguments[0]);
    int size = Integer.parseInt(arguments[1]);
    String what = arguments[3];
    GroupOptions options =
        GroupOptions.defaults()
            .withTimeout(Duration.ofSeconds(60))
            .withBackend("cpu:netty,cuda:nccl")
            .withNanCheck(what.equals("not a number"))
            .withDebugLevel(what.equals("detail") ? DebugLevel.DETAIL : DebugLevel.OFF);
    HostedRank host =
        new HostedRank(
            List.of(
                // On one GPU for all, if there is only one.
                "spark.collectives.gpu.ordinal=" + rank % DriverCuda.load().deviceCount(),
                "spark.collectives.gpu.nccl.eager=" + what.equals("split")),
            TransportSecurity.plain());
    try (Store store =
            TcpStore.connect("127.0.0.1", Integer.parseInt(arguments[2]), Duration.ofSeconds(60));
        ProcessGroup world = HostedGroups.create(store, rank, size, options, host)) {
      DeviceTensor data = DeviceTensor.of(world.allocate(DType.FLOAT32, 1000, Device.Type.CUDA));
      world.allReduce(data, ReduceOp.SUM).await();
      switch (what) {
        case "split" -> split(world);
        case "not a number" -> notANumber(world, data);
        case "detail" -> detail(world, data);
        case "every collective" -> new EveryCollective(world, data.gpu(), false).run();
        default -> throw new IllegalArgumentException(what);
      }
    }
    NativeLeaks.check();
    System.out.println(DONE);
  }

  private static void split(ProcessGroup world) {
    int rank = world.rank();
    try (ProcessGroup half = world.split(rank % 2, -rank)) {
      DeviceTensor data = DeviceTensor.of(half.allocate(DType.INT32, 1, Device.Type.CUDA));
      data.copyFrom(new int[] {rank});
      half.allReduce(data, ReduceOp.SUM).await();
      int[] sum = new int[1];
      data.copyTo(sum);
      // Of three ranks, 0 and 2 are together.
      assertThat(sum).containsExactly(rank == 1 ? 1 : 2);
    }
    if (rank != 1) {
      try (ProcessGroup rest = world.shrink(1)) {
        DeviceTensor data = DeviceTensor.of(rest.allocate(DType.INT32, 1, Device.Type.CUDA));
        data.copyFrom(new int[] {rank + 1});
        rest.allReduce(data, ReduceOp.SUM).await();
        int[] sum = new int[1];
        data.copyTo(sum);
        assertThat(sum).containsExactly(4);
      }
    }
    world.barrier().await();
  }

  private static void detail(ProcessGroup world, DeviceTensor data) {
    new EveryCollective(world, data.gpu(), false).run();
    Work work = world.rank() == 1 ? world.broadcast(data, 0) : world.allReduce(data, ReduceOp.SUM);
    assertThat(catchThrowable(work::await))
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("rank 0 calls all-reduce #" + work.sequenceNumber() + " of float32")
        .hasMessageContaining("rank 1 calls broadcast #" + work.sequenceNumber() + " of float32");
  }

  private static void notANumber(ProcessGroup world, DeviceTensor data) {
    float[] values = new float[1000];
    values[617] = Float.NaN;
    data.copyFrom(values);
    assertThat(catchThrowable(() -> world.allReduce(data, ReduceOp.SUM)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("element 617");
    values[617] = 0;
    data.copyFrom(values);
    world.allReduce(data, ReduceOp.SUM).await();
  }
}
