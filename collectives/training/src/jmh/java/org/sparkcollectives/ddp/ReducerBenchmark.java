package org.sparkcollectives.ddp;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.store.HashStore;

/**
 * Measures what a reducer itself costs: a step of a rank that is alone, so that its all-reduces
 * cost next to nothing. The step of 1001 parameters has 1000 marks more than that of one.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ReducerBenchmark {

  @Param({"1", "1001"})
  public int parameters;

  private ProcessGroup group;
  private GradientReducer reducer;

  /** Creates a reducer with one bucket, in which the gradients lie. */
  @Setup
  public void create() {
    group = ProcessGroups.create(new HashStore(), 0, 1, GroupOptions.defaults());
    List<Parameter> all = new ArrayList<>();
    for (int i = 0; i < parameters; i++) {
      all.add(Parameter.of("p" + i, Tensor.allocate(DType.FLOAT32, 8)));
    }
    reducer =
        GradientReducer.create(
            group, all, ReducerOptions.defaults().withGradientAsBucketView(true));
  }

  @TearDown
  public void close() {
    reducer.close();
    group.close();
  }

  /** Makes a step. */
  @Benchmark
  public void step() {
    reducer.beginForward();
    reducer.beginBackward();
    for (int i = parameters - 1; i >= 0; i--) {
      reducer.markReady(i);
    }
    reducer.finish();
  }
}
