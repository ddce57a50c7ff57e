package org.sparkcollectives.gpu.staged;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.gpu.testing.NativeLeaks;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.testing.Eventually;

/** Runs one rank with a failure. Arguments: rank, size, port of the store, and the failure. */
final class StagedFailureProgram {

  /** The last line that is printed. */
  static final String DONE = "failed as it should";

  private final ProcessGroup world;
  private final CudaDevice device;

  private StagedFailureProgram(ProcessGroup world, CudaDevice device) {
    this.world = world;
    this.device = device;
  }

  /** Throws if anything else happens. */
  public static void main(String[] arguments) throws Exception {
    runInGroup(arguments);
    // The resources that an operation left behind are garbage-collected.
    Eventually.holdsAfterCollection(
        () -> NativeLeaks.find().isEmpty(), () -> "left: " + NativeLeaks.find());
    System.out.println(DONE);
  }

  /** Runs the group in a method of its own, whose frame keeps nothing alive. */
  private static void runInGroup(String[] arguments) throws Exception {
    String what = arguments[3];
    GroupOptions options =
        GroupOptions.defaults()
            .withTimeout(Duration.ofSeconds(60))
            .withNanCheck(what.equals("not a number"))
            .withBackend("cpu:netty,cuda:netty");
    try (Store store =
            TcpStore.connect("127.0.0.1", Integer.parseInt(arguments[2]), Duration.ofSeconds(60));
        CudaDevice device = CudaDevice.open(DriverCuda.load(), 0);
        CudaStream stream = CudaStream.create(device, false);
        ProcessGroup world =
            ProcessGroups.create(
                store, Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), options)) {
      CudaStream.Use use = stream.use();
      new StagedFailureProgram(world, device).run(what);
      use.close();
    }
  }

  private void run(String what) {
    switch (what) {
      case "death of a peer" -> deathOfAPeer();
      case "slow GPU" -> slowGpu();
      case "not a number" -> notANumber();
      case "wrong arguments" -> wrongArguments();
      default -> throw new IllegalArgumentException(what);
    }
  }

  private DeviceTensor tensor(float... values) {
    return DeviceTensor.copyOf(device, Tensor.of(values));
  }

  private void deathOfAPeer() {
    DeviceTensor tensor = tensor(1, 2);
    world.allReduce(tensor, ReduceOp.SUM).await();
    if (world.rank() == 1) {
      world.store().get("all are begun");
      Runtime.getRuntime().halt(0);
    }
    Work first = world.allReduce(tensor(1, 2), ReduceOp.SUM);
    Work second = world.allReduce(tensor(1, 2), ReduceOp.SUM);
    Work message = world.recv(tensor(0, 0), 1, 0);
    world.store().set("all are begun", new byte[0]);
    for (Work work : new Work[] {first, second, message}) {
      assertThatThrownBy(work::await).isInstanceOf(CollectiveException.class);
      assertThat(work.isSuccess()).isFalse();
      assertThat(work.future()).isCompletedExceptionally();
    }
  }

  private void slowGpu() {
    Work work = world.withTimeout(Duration.ofMillis(300)).allReduce(tensor(1), ReduceOp.SUM);
    assertThatThrownBy(work::await)
        .isInstanceOf(CollectiveTimeoutException.class)
        .hasMessageContaining("all-reduce #0 (float32 x 1, SUM)");
  }

  private void notANumber() {
    DeviceTensor index = DeviceTensor.copyOf(device, Tensor.of(1L).reshape(1, 1));
    // The check runs before the operation starts, and leaves the group as it is.
    assertThatThrownBy(
            () -> world.allReduce(SparseTensor.of(new long[] {4}, index, tensor(Float.NaN))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("element 0 of float32[1]");
    Work work = world.allReduce(tensor(1, Float.NaN), ReduceOp.SUM);
    assertThatThrownBy(work::await)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("element 1 of float32[2]")
        .hasMessageContaining("is not a number");
  }

  private void wrongArguments() {
    DeviceTensor tensor = tensor(1, 2);
    try (CudaDevice other = CudaDevice.open(DriverCuda.load(), 1)) {
      DeviceTensor elsewhere = DeviceTensor.copyOf(other, Tensor.of(1f));
      assertThatThrownBy(() -> world.allReduce(elsewhere, ReduceOp.SUM))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("The rank works on cuda:0")
          .hasMessageContaining("cuda:1");
      assertThatThrownBy(() -> world.allReduceCoalesced(List.of(tensor, elsewhere), ReduceOp.SUM))
          .isInstanceOf(IllegalArgumentException.class);
      elsewhere.free();
    }
    assertThatThrownBy(() -> world.allGather(Tensor.of(1f, 2f), tensor))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cpu")
        .hasMessageContaining("cuda:0");
    world.allReduce(tensor, ReduceOp.SUM).await();
  }
}
