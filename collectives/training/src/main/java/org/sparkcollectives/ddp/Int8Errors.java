package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/**
 * Keeps the rounding errors of each parameter. They lie in the buckets, and move when the reducer
 * makes other buckets.
 */
final class Int8Errors {

  /** The rounding errors of one parameter. */
  record Remainder(float[] values, double divisor) {}

  private static final String PARAMETER = "parameter ";
  private static final String COUNTS = "counts";
  private static final String ERROR = "/error";
  private static final String DIVISOR = "/divisor";

  private final BlockwiseInt8Options options;
  private final Map<Integer, Int8Bucket> buckets = new HashMap<>();
  private final Map<Integer, long[]> extents = new HashMap<>();

  /** The errors that no bucket has taken over yet, by parameter. */
  private final Map<Integer, Remainder> loose = new TreeMap<>();

  Int8Errors(BlockwiseInt8Options options) {
    this.options = options;
  }

  /**
   * Returns the memory of a bucket.
   *
   * @throws IllegalStateException if what is remembered of a parameter has another length
   */
  Int8Bucket of(GradientBucket bucket) {
    Int8Bucket known = buckets.get(bucket.index());
    if (known != null && known.isOf(bucket)) {
      return known;
    }
    if (known != null) {
      loose.putAll(byParameter());
      buckets.clear();
      extents.clear();
    }
    Int8Bucket made = new Int8Bucket(bucket, options);
    List<Tensor> gradients = bucket.gradients();
    long[] counts = gradients.stream().mapToLong(Tensor::count).toArray();
    takeOver(bucket, made, counts);
    buckets.put(bucket.index(), made);
    extents.put(bucket.index(), counts);
    return made;
  }

  private void takeOver(GradientBucket bucket, Int8Bucket made, long[] counts) {
    int[] parameters = made.parameters();
    for (int i = 0; i < parameters.length; i++) {
      Remainder error = loose.get(parameters[i]);
      if (error != null && error.values().length != counts[i]) {
        throw new IllegalStateException(
            "BlockwiseInt8 remembers "
                + error.values().length
                + " elements for parameter "
                + parameters[i]
                + ", whose gradient has "
                + counts[i]
                + ": restore the state of the same model, or begin with a new BlockwiseInt8");
      }
    }
    int at = 0;
    for (int i = 0; i < parameters.length; i++) {
      Remainder error = loose.remove(parameters[i]);
      if (error != null && options.errorFeedback()) {
        made.keepErrors(error, at, bucket.divisor());
      }
      at += (int) counts[i];
    }
  }

  /** Returns copies of what was left out, by parameters. */
  private Map<Integer, Remainder> byParameter() {
    Map<Integer, Remainder> all = new TreeMap<>(loose);
    buckets.forEach(
        (index, bucket) -> {
          int at = 0;
          for (int i = 0; i < bucket.parameters().length && bucket.errors() != null; i++) {
            int end = at + (int) extents.get(index)[i];
            float[] own = Arrays.copyOfRange(bucket.errors(), at, end);
            all.put(bucket.parameters()[i], new Remainder(own, bucket.divisor()));
            at = end;
          }
        });
    return all;
  }

  /** Returns copies of all that is remembered. */
  Map<String, Tensor> save(long steps) {
    Map<String, Tensor> state = new TreeMap<>();
    state.put(COUNTS, Tensor.of(steps));
    byParameter()
        .forEach(
            (parameter, error) -> {
              state.put(PARAMETER + parameter + ERROR, Tensor.of(error.values()));
              state.put(PARAMETER + parameter + DIVISOR, Tensor.of(error.divisor()));
            });
    return state;
  }

  /** Replaces what is remembered, if all of it is right. Returns the number of steps. */
  long restore(Map<String, Tensor> state) {
    Map<Integer, Remainder> saved = new TreeMap<>();
    int known = 1;
    long[] steps = new long[1];
    require(state, COUNTS, DType.INT64, 1).copyTo(steps);
    for (Map.Entry<String, Tensor> each : state.entrySet()) {
      String key = each.getKey();
      if (key.matches(PARAMETER + "\\d{1,9}" + ERROR)) {
        String name = key.substring(0, key.length() - ERROR.length());
        float[] values = new float[Int8Exchange.requireFit(each.getValue().count())];
        require(state, key, DType.FLOAT32, values.length).copyTo(values);
        double[] divisor = new double[1];
        require(state, name + DIVISOR, DType.FLOAT64, 1).copyTo(divisor);
        if (!(divisor[0] > 0)) {
          throw new IllegalArgumentException(
              "In the state of a BlockwiseInt8, " + name + DIVISOR + " is " + divisor[0]);
        }
        saved.put(
            Integer.valueOf(name.substring(PARAMETER.length())), new Remainder(values, divisor[0]));
        known += 2;
      }
    }
    if (known != state.size()) {
      throw new IllegalArgumentException(
          "The state of a BlockwiseInt8 has \"counts\", and \"/error\" and \"/divisor\" of"
              + " parameters, not all of "
              + state.keySet());
    }
    loose.clear();
    loose.putAll(saved);
    return steps[0];
  }

  private static Tensor require(Map<String, Tensor> state, String key, DType type, long count) {
    return HookState.require("BlockwiseInt8", state, key, type, count);
  }
}
