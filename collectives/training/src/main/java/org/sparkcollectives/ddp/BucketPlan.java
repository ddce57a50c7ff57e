package org.sparkcollectives.ddp;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.DType;

/**
 * Plans which parameters are in which bucket: a function of options, sizes and an order alone, so
 * that all ranks come to the same plan.
 */
final class BucketPlan {

  /** The limit of a bucket that takes all parameters of its type. */
  private static final long[] NO_LIMIT = {Long.MAX_VALUE};

  private final ReducerOptions options;
  private final long[] bytes;
  private final DType[] types;
  private final boolean[] sparse;

  BucketPlan(ReducerOptions options, long[] bytes, DType[] types, boolean[] sparse) {
    this.options = options;
    this.bytes = bytes.clone();
    this.types = types.clone();
    this.sparse = sparse.clone();
  }

  static BucketPlan of(ReducerOptions options, List<Parameter> parameters) {
    int count = parameters.size();
    long[] bytes = new long[count];
    DType[] types = new DType[count];
    boolean[] sparse = new boolean[count];
    for (int i = 0; i < count; i++) {
      Parameter parameter = parameters.get(i);
      bytes[i] = parameter.value().byteSize();
      types[i] = parameter.value().dtype();
      sparse[i] = parameter.sparse();
    }
    return new BucketPlan(options, bytes, types, sparse);
  }

  /** Returns whether the buckets will be rebuilt once an order of readiness is known. */
  boolean willBeRebuilt() {
    return options.rebuild()
        && options.readyOrder().length == 0
        && (options.staticGraph() || !options.findUnused());
  }

  /** Returns the buckets of the first step. */
  List<int[]> first() {
    if (options.readyOrder().length > 0) {
      return inOrder(options.readyOrder());
    }
    boolean list = options.bucketBytes().length > 1;
    List<int[]> buckets =
        new ArrayList<>(
            BucketAssignment.of(
                    bytes, types, sparse, willBeRebuilt() && !list ? NO_LIMIT : limits())
                .buckets());
    Collections.reverse(buckets);
    return buckets;
  }

  /**
   * Returns the buckets for an order of readiness. Parameters that it does not name follow, in the
   * order of their positions.
   */
  List<int[]> inOrder(int[] ready) {
    int[] order = complete(ready);
    if (!options.smallLastBucket()) {
      return BucketAssignment.of(bytes, types, sparse, limits(), order).buckets();
    }
    List<int[]> fromTheEnd =
        new ArrayList<>(
            BucketAssignment.of(bytes, types, sparse, limits(), reversed(order)).buckets());
    Collections.reverse(fromTheEnd);
    return fromTheEnd.stream().map(BucketPlan::reversed).toList();
  }

  /** Returns an order with all parameters: those that it does not name follow. */
  int[] complete(int[] ready) {
    BucketAssignment.requireOrder(ready, bytes.length);
    boolean[] named = new boolean[bytes.length];
    for (int position : ready) {
      named[position] = true;
    }
    return IntStream.concat(
            IntStream.of(ready), IntStream.range(0, bytes.length).filter(i -> !named[i]))
        .toArray();
  }

  private long[] limits() {
    long[] limits = options.bucketBytes();
    if (limits.length == 1) {
      return new long[] {options.firstBucketBytes(), limits[0]};
    }
    limits[0] = options.firstBucketBytes();
    return limits;
  }

  private static int[] reversed(int[] order) {
    return IntStream.range(0, order.length).map(i -> order[order.length - 1 - i]).toArray();
  }
}
