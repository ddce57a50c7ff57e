package org.sparkcollectives.examples.benchmark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.BlockwiseInt8;
import org.sparkcollectives.ddp.BlockwiseInt8Options;
import org.sparkcollectives.ddp.CommHooks;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.NoSync;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.ddp.PowerSgd;
import org.sparkcollectives.ddp.PowerSgdOptions;
import org.sparkcollectives.ddp.ReducerOptions;

/**
 * Times the steps of a training in one rank, for {@code examples/training-benchmark}: its backward
 * pass waits a while before each parameter has its gradient.
 */
final class TrainingRank {

  private static final int FEWEST_STEPS = 10;
  private static final int COLUMNS = 512;

  /** Before the first figure: more than a hook takes to choose how it sends. */
  private static final int FIRST_STEPS = 15;

  private final ProcessGroup group;
  private final GradientReducer reducer;
  private final int parameters;
  private final Tensor gradient;

  private TrainingRank(ProcessGroup group, List<Parameter> parameters, ReducerOptions options) {
    this.group = group;
    this.parameters = parameters.size();
    this.reducer = GradientReducer.create(group, parameters, options);
    this.gradient = Tensor.allocate(DType.FLOAT32, parameters.get(0).value().count());
    float[] values = new float[(int) gradient.count()];
    Arrays.fill(values, 0.5f);
    gradient.copyFrom(values);
  }

  /**
   * Runs one rank, whose place in the group comes from the environment. Rank 0 prints the median
   * milliseconds of a step without communication, of one that does nothing else, and of one with
   * both.
   *
   * @param args {@code shm}, {@code tcp} or {@code all}, MiB of gradients, parameters, MiB of a
   *     bucket, milliseconds of a backward pass, seconds for each figure, and the hook
   */
  public static void main(String[] args) {
    double mebibytes = Double.parseDouble(args[1]);
    int count = Integer.parseInt(args[2]);
    long bucket = (long) (Double.parseDouble(args[3]) * (1 << 20));
    long backward = (long) (Double.parseDouble(args[4]) * 1e6);
    double seconds = Double.parseDouble(args[5]);
    GroupOptions options = GroupOptions.defaults();
    if (args[0].equals("tcp")) {
      options = options.withTransports("tcp");
    }
    int rows = Math.max(1, (int) (mebibytes * (1 << 18)) / count / COLUMNS);
    List<Parameter> parameters = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Tensor value = Tensor.allocate(DType.FLOAT32, rows, COLUMNS);
      parameters.add(Parameter.of("weight" + i, value));
    }
    try (ProcessGroup group = Rendezvous.join("env://", options)) {
      ReducerOptions reducing =
          ReducerOptions.defaults().withBucketBytes(bucket).withGradientAsBucketView(true);
      TrainingRank rank = new TrainingRank(group, parameters, reducing);
      try (GradientReducer reducer = rank.reducer) {
        if (args[6].equals("float16")) {
          reducer.setCommHook(CommHooks.float16());
        } else if (args[6].equals("powersgd")) {
          reducer.setCommHook(new PowerSgd(PowerSgdOptions.defaults().withRank(2).withStart(2)));
        } else if (args[6].equals("int8")) {
          reducer.setCommHook(new BlockwiseInt8(BlockwiseInt8Options.defaults()));
        }
        for (int i = 0; i < FIRST_STEPS; i++) {
          rank.step(0, true);
        }
        double communication = rank.medianStep(0, seconds, true);
        double local = rank.medianStep(backward / count, seconds, false);
        double both = rank.medianStep(backward / count, seconds, true);
        if (group.rank() == 0) {
          System.out.printf(Locale.ROOT, "%f %f %f%n", local, communication, both);
        }
        group.barrier().await();
      }
    }
  }

  private double medianStep(long pause, double seconds, boolean synchronises) {
    for (int i = 0; i < 3; i++) {
      step(pause, synchronises);
    }
    group.barrier().await();
    List<Long> times = new ArrayList<>();
    long begin = System.nanoTime();
    byte[] more = {1};
    while (more[0] == 1) {
      long before = System.nanoTime();
      step(pause, synchronises);
      times.add(System.nanoTime() - before);
      if (times.size() % FEWEST_STEPS == 0) {
        more[0] = (byte) (System.nanoTime() - begin < seconds * 1e9 ? 1 : 0);
        group.broadcast(Tensor.of(more), 0).await();
      }
    }
    long[] sorted = times.stream().mapToLong(Long::longValue).sorted().toArray();
    return sorted[sorted.length / 2] / 1e6;
  }

  private void step(long pause, boolean synchronises) {
    if (synchronises) {
      step(pause);
    } else {
      NoSync local = reducer.noSync();
      try {
        step(pause);
      } finally {
        local.close();
      }
    }
  }

  private void step(long pause) {
    reducer.beginForward();
    reducer.beginBackward();
    for (int i = parameters - 1; i >= 0; i--) {
      if (pause > 0) {
        LockSupport.parkNanos(pause);
      }
      reducer.gradient(i).copyFrom(gradient);
      reducer.markReady(i);
    }
    reducer.finish();
  }
}
