package org.sparkcollectives.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;

/**
 * A rank whose {@code /dev/shm} becomes full while it works. It goes on with memory that it had,
 * with new tensors and with a new group, and fails if a sum is wrong. Prints {@code full} and
 * {@code went on}.
 */
final class FullMemoryRank {

  private static final int COUNT = 1 << 18;

  private FullMemoryRank() {}

  /** Runs the rank, which ends by itself; the argument is the URL with its rank. */
  public static void main(String[] arguments) throws IOException {
    GroupOptions options = GroupOptions.defaults().withTimeout(FaultSettings.PATIENCE);
    try (ProcessGroup world = Rendezvous.join(arguments[0], options)) {
      Tensor before = world.allocate(DType.FLOAT32, COUNT);
      reduce(world, before);
      reduce(world, Tensor.of(new float[COUNT]));
      fill(Path.of("/dev/shm", "filled-" + world.rank()));
      System.out.println("full");
      world.barrier().await();
      reduce(world, before);
      reduce(world, Tensor.of(new float[COUNT]));
      reduce(world, world.allocate(DType.FLOAT32, COUNT));
      try (ProcessGroup later = world.newGroup()) {
        reduce(later, Tensor.of(new float[COUNT]));
        reduce(later, later.allocate(DType.FLOAT32, COUNT));
        later.barrier().await();
      }
      System.out.println("went on");
      world.barrier().await();
    }
  }

  private static void fill(Path file) throws IOException {
    byte[] bytes = new byte[4096];
    try (OutputStream out = Files.newOutputStream(file)) {
      while (true) {
        out.write(bytes);
      }
    } catch (IOException e) {
      if (!String.valueOf(e.getMessage()).contains("No space left")) {
        throw e;
      }
    }
  }

  private static void reduce(ProcessGroup group, Tensor tensor) {
    float[] values = new float[Math.toIntExact(tensor.count())];
    Arrays.fill(values, group.rank() + 1);
    tensor.copyFrom(values);
    group.allReduce(tensor, ReduceOp.SUM).await();
    tensor.copyTo(values);
    for (float value : values) {
      if (value != 3) {
        throw new IllegalStateException("a sum of two ranks is " + value + ", not 3");
      }
    }
  }
}
