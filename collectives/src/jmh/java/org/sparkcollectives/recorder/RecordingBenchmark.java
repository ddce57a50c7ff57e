package org.sparkcollectives.recorder;

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
import org.openjdk.jmh.annotations.Warmup;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.recorder.GroupRecords;
import org.sparkcollectives.internal.recorder.RecordRing;
import org.sparkcollectives.spi.OperationSpec;

/** Measures what the record of an operation costs, from its call over its start to its end. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RecordingBenchmark {

  /** The number of records that are kept: none, or as many as by default. */
  @Param({"0", "2000"})
  public int capacity;

  private final OperationSpec spec =
      OperationSpec.allReduce(Tensor.allocate(DType.FLOAT32, 1), ReduceOp.SUM);
  private GroupRecords group;
  private long number;

  /** Creates the recorder; called by JMH. */
  @Setup
  public void setUp() {
    group = new RecordRing(capacity).join("world", "", List.of(0), 0);
  }

  /** Reads the clock alone, which is read three times for a record. */
  @Benchmark
  public long clock() {
    return System.nanoTime();
  }

  /** Records an operation from the call to the end. */
  @Benchmark
  public RecordRing.Entry record() {
    RecordRing.Entry entry = group.record(spec, number++, 1000, System.nanoTime());
    entry.started();
    entry.completed(true);
    return entry;
  }
}
