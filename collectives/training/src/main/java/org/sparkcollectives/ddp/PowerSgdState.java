package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/** Copies what a {@link PowerSgd} remembers into tensors with names, and back. */
final class PowerSgdState {

  private static final String COUNTS = "counts";
  private static final int LENGTH_OF_COUNTS = 4;
  private static final String SHAPE = "/shape";
  private static final String ERROR = "/error";
  private static final String DIVISOR = "/divisor";
  private static final String Q = "/q";

  private final PowerSgdMemory memory;

  PowerSgdState(PowerSgdMemory memory) {
    this.memory = memory;
  }

  Map<String, Tensor> save(long... counts) {
    Map<String, Tensor> state = new TreeMap<>();
    state.put(COUNTS, Tensor.of(counts));
    memory.matrices().forEach((name, matrix) -> save(state, name, matrix));
    return state;
  }

  private static void save(Map<String, Tensor> state, String name, LowRankMatrix matrix) {
    int rows = matrix.rows();
    int columns = matrix.columns();
    state.put(name + SHAPE, Tensor.of(new long[] {rows, columns, matrix.rank()}));
    float[] error = matrix.remainder();
    if (error != null) {
      state.put(name + ERROR, Tensor.of(error.clone()).reshape(rows, columns));
      state.put(name + DIVISOR, Tensor.of(matrix.remainderDivisor()));
    }
    if (matrix.q() != null) {
      state.put(name + Q, Tensor.of(matrix.q().clone()).reshape(matrix.rank(), columns));
    }
  }

  /** Replaces what is remembered, if all of it is right. Returns the counts. */
  long[] restore(Map<String, Tensor> state) {
    Set<String> left = new TreeSet<>(state.keySet());
    long[] counts = new long[LENGTH_OF_COUNTS];
    take(state, left, COUNTS, DType.INT64, LENGTH_OF_COUNTS).copyTo(counts);
    Map<String, LowRankMatrix> matrices = new TreeMap<>();
    for (String key : state.keySet()) {
      if (key.endsWith(SHAPE)) {
        String name = key.substring(0, key.length() - SHAPE.length());
        matrices.put(name, restoreMatrix(state, left, name));
      }
    }
    if (!left.isEmpty()) {
      throw new IllegalArgumentException("The state of a PowerSgd does not hold " + left);
    }
    memory.restore(matrices);
    return counts;
  }

  private static LowRankMatrix restoreMatrix(
      Map<String, Tensor> state, Set<String> left, String name) {
    long[] shape = new long[3];
    take(state, left, name + SHAPE, DType.INT64, shape.length).copyTo(shape);
    if (Arrays.stream(shape).anyMatch(each -> each < 1 || each > Integer.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "In the state of a PowerSgd, " + name + SHAPE + " is " + Arrays.toString(shape));
    }
    int rows = (int) shape[0];
    int columns = (int) shape[1];
    int rank = (int) shape[2];
    LowRankMatrix matrix = new LowRankMatrix(rows, columns, rank);
    if (state.containsKey(name + ERROR)) {
      double[] divisor = new double[1];
      take(state, left, name + DIVISOR, DType.FLOAT64, 1).copyTo(divisor);
      long count = Math.multiplyExact((long) rows, columns);
      matrix.keepRemainder(
          floats(take(state, left, name + ERROR, DType.FLOAT32, count)), divisor[0]);
    }
    if (state.containsKey(name + Q)) {
      long count = Math.multiplyExact((long) rank, columns);
      matrix.keepQ(floats(take(state, left, name + Q, DType.FLOAT32, count)));
    }
    return matrix;
  }

  private static float[] floats(Tensor tensor) {
    float[] values = new float[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  private static Tensor take(
      Map<String, Tensor> state, Set<String> left, String key, DType type, long count) {
    Tensor tensor = HookState.require("PowerSgd", state, key, type, count);
    left.remove(key);
    return tensor;
  }
}
