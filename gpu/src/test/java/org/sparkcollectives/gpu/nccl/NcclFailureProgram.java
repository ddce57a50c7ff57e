package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.gpu.testing.NativeLeaks;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;

/**
 * Runs one rank of an NCCL group in which a failure happens. Arguments: rank, size, port of the
 * store, the time limit in milliseconds, and the failure.
 */
final class NcclFailureProgram {

  /** The last line that is printed. */
  static final String DONE = "failed as it should";

  private static final String LATE_SPLIT = "split that is never joined";

  private final ProcessGroup world;

  /** A view with the time limit, for operations that do not end. */
  private final ProcessGroup hasty;

  private final CudaDevice device;
  private final CudaStream stream;

  private NcclFailureProgram(
      ProcessGroup world, ProcessGroup hasty, CudaDevice device, CudaStream stream) {
    this.world = world;
    this.hasty = hasty;
    this.device = device;
    this.stream = stream;
  }

  /** Throws if anything else happens. */
  public static void main(String[] arguments) throws Exception {
    int rank = Integer.parseInt(arguments[0]);
    int size = Integer.parseInt(arguments[1]);
    String what = arguments[4];
    GroupOptions options =
        GroupOptions.defaults()
            .withTimeout(Duration.ofSeconds(60))
            .withBackend("cpu:netty,cuda:nccl");
    Duration timeout = Duration.ofMillis(Long.parseLong(arguments[3]));
    try (Store store =
            TcpStore.connect("127.0.0.1", Integer.parseInt(arguments[2]), Duration.ofSeconds(60));
        CudaDevice device = CudaDevice.open(DriverCuda.load(), 0);
        CudaStream stream = CudaStream.create(device, false)) {
      CudaStream.Use use = stream.use();
      HostedRank host =
          new HostedRank(
              List.of("spark.collectives.gpu.nccl.eager=" + what.equals(LATE_SPLIT)),
              TransportSecurity.plain());
      try (ProcessGroup world = HostedGroups.create(store, rank, size, options, host)) {
        new NcclFailureProgram(world, world.withTimeout(timeout), device, stream).run(what);
      }
      // Nothing hangs in the stream that waited for the operation.
      stream.synchronize();
      use.close();
    }
    if (what.equals(LATE_SPLIT)) {
      NativeLeaks.check();
    }
    System.out.println(DONE);
  }

  private void run(String what) {
    switch (what) {
      case "death of a peer" -> {
        sum(world).await();
        if (world.rank() == 1) {
          awaitBegun(0);
          Runtime.getRuntime().halt(0);
        }
        Work second = sum(world);
        tellBegun();
        // NCCL does not say which rank it was.
        assertThat(expect(second, PeerFailedException.class)).hasMessageContaining("rank 1 (");
      }
      case "error of the library" -> {
        sum(world).await();
        if (world.rank() == 0) {
          // This rank has the error at its second operation.
          awaitBegun(1);
        }
        Work second = sum(world);
        if (world.rank() == 1) {
          tellBegun();
        }
        expect(second, CollectiveException.class);
      }
      case "operation that hangs" -> {
        sum(world).await();
        expect(sum(hasty), CollectiveTimeoutException.class);
      }
      case "rank that never joins" -> expect(sum(hasty), CollectiveException.class);
      case "rank that stays away" -> lateRankOne();
      case "operation of one rank alone" -> {
        sum(world).await();
        lateRankOne();
      }
      case LATE_SPLIT ->
          assertThatThrownBy(() -> hasty.split(0, world.rank()))
              .isInstanceOf(CollectiveException.class);
      case "abort" -> {
        sum(world).await();
        if (world.rank() == 1) {
          awaitBegun(0);
          world.abort(new IllegalStateException("enough of it"));
        } else {
          Work second = sum(world);
          tellBegun();
          assertThatThrownBy(second::await)
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("enough of it");
        }
      }
      default -> throw new IllegalArgumentException(what);
    }
  }

  /** Begins an operation that rank 1 never begins. */
  private void lateRankOne() {
    if (world.rank() == 1) {
      // The failure of rank 0 ends the group, and so this wait.
      System.out.println("waited, with " + catchThrowable(() -> awaitBegun(0)));
      return;
    }
    expect(sum(hasty), CollectiveTimeoutException.class);
    tellBegun();
  }

  /** Waits until the other ranks have finished the first operation, and are in the second. */
  private void awaitBegun(int rank) {
    world.store().get("begun by " + rank);
  }

  private void tellBegun() {
    world.store().set("begun by " + world.rank(), new byte[0]);
  }

  private Work sum(ProcessGroup group) {
    float[] values = new float[50_000];
    Arrays.fill(values, 1);
    return group.allReduce(DeviceTensor.copyOf(device, Tensor.of(values)), ReduceOp.SUM);
  }

  private Throwable expect(Work work, Class<? extends CollectiveException> failure) {
    try {
      work.synchronize(stream);
    } catch (CollectiveException e) {
      // The failure may be known already.
      System.out.println("known: " + e.getMessage());
    }
    Throwable end = catchThrowable(work::await);
    System.out.println("ended by: " + end);
    assertThat(end).isInstanceOf(failure);
    assertThat(work.isSuccess()).isFalse();
    assertThatThrownBy(() -> sum(world)).isInstanceOf(CollectiveException.class);
    return end;
  }
}
