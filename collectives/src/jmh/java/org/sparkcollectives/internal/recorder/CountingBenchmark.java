package org.sparkcollectives.internal.recorder;

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
import org.openjdk.jmh.annotations.Warmup;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.spi.OperationSpec;

/** Measures what it costs to count an operation in the statistics of its group. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class CountingBenchmark {

  /** The nanoseconds from one operation to the next, on which the sampling depends. */
  @Param({"1000", "1000000"})
  public long period;

  private final OperationSpec spec =
      OperationSpec.allReduce(Tensor.allocate(DType.FLOAT32, 1), ReduceOp.SUM);
  private final GroupCounters counters = new GroupCounters(new OutsideTime());
  private long number;

  /** Counts so many that a reader finds a full sample. */
  @Setup
  public void fill() {
    for (int i = 0; i < 100_000; i++) {
      count();
    }
  }

  /** Counts an operation that has ended. */
  @Benchmark
  public void count() {
    long begin = number * period;
    counters.add(spec, "direct", number++, begin, begin, begin + period / 2, true);
  }

  /** Reads the statistics, as happens every two seconds. */
  @Benchmark
  public GroupStatistics read() {
    return counters.statistics("world", 0, 2, 0, 0, GroupStatistics.Paths.NONE);
  }
}
