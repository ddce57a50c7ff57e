package org.sparkcollectives.internal.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Measures how fast one contribution is added up, by type, size, and where contribution and sum
 * lie.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ReduceKernelBenchmark {

  /** The place of a tensor. */
  public enum Memory {
    /** In a Java array. */
    HEAP,
    /** In a direct buffer. */
    DIRECT
  }

  /** The type of the contributions. */
  @Param({"FLOAT32", "FLOAT64", "BFLOAT16", "INT32", "INT8"})
  public DType dtype;

  /** The size of a contribution: within the first-level cache, within the third, and beyond. */
  @Param({"16384", "1048576", "67108864"})
  public int bytes;

  /** The place of the sum. */
  @Param({"HEAP", "DIRECT"})
  public Memory sum;

  private ReduceKernel kernel;
  private int count;
  private HostTensor accumulator;
  private HostTensor array;
  private HostTensor direct;
  private HostTensor result;
  private ByteBuffer received;

  /** Creates a benchmark; called by JMH. */
  public ReduceKernelBenchmark() {}

  /** Makes the tensors, of zeros. */
  @Setup(Level.Trial)
  public void allocate() {
    kernel = ReduceKernels.of(ReduceOp.SUM, dtype);
    count = bytes / dtype.bytes();
    accumulator = tensor(sum, kernel.accumulatorType());
    array = tensor(Memory.HEAP, dtype);
    direct = tensor(Memory.DIRECT, dtype);
    result = tensor(sum, dtype);
    received = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  private HostTensor tensor(Memory memory, DType type) {
    if (memory == Memory.HEAP) {
      return (HostTensor) Tensor.allocate(type, count);
    }
    ByteBuffer buffer = ByteBuffer.allocateDirect(count * type.bytes());
    return (HostTensor) Tensor.wrap(type, buffer.order(ByteOrder.nativeOrder()));
  }

  /** Adds a peer's contribution from an array of this JVM. */
  @Benchmark
  public HostTensor accumulateAnArray() {
    kernel.accumulate(accumulator, 0, array, 0, count);
    return accumulator;
  }

  /** Adds a peer's contribution from a direct buffer, such as memory that processes share. */
  @Benchmark
  public HostTensor accumulateADirectTensor() {
    kernel.accumulate(accumulator, 0, direct, 0, count);
    return accumulator;
  }

  /** Adds a contribution that a connection has received. */
  @Benchmark
  public HostTensor accumulateWhatWasReceived() {
    kernel.accumulate(accumulator, 0, count, received.clear());
    return accumulator;
  }

  /** Turns the accumulator into the result. */
  @Benchmark
  public HostTensor finish() {
    kernel.finish(result, 0, accumulator, 0, count, 1);
    return result;
  }
}
