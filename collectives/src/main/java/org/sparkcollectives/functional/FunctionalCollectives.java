package org.sparkcollectives.functional;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * Collectives that leave their inputs as they are and give new tensors: c10d's functional
 * collectives. What {@link ProcessGroup} says of collectives holds for them: all ranks of the group
 * call them in the same order, with the same shapes, types and reductions.
 *
 * <p><b>Nothing blocks.</b> An input is copied before the method returns, and may be changed at
 * once. The result is a new tensor on the input's device; in host memory it is on the Java heap. It
 * stays when the group is closed. An operation ends whether or not somebody waits for it, and no
 * registry keeps its result.
 *
 * <p><b>Dimensions</b> count from 0, or from the end if they are negative: -1 is the last. A scalar
 * counts as one dimension with a single element. Along the first dimension the result is received
 * where it stays. Along another one it is moved once more, by the thread that ends the operation.
 *
 * <p><b>Errors.</b> A wrong argument throws {@link IllegalArgumentException} at the call, before
 * data moves, on each rank that gives it; the group stays usable. Where the operation fails, the
 * future fails with the {@link CollectiveException} that {@link Work#await} would throw, which
 * {@code join} wraps in {@link java.util.concurrent.CompletionException}. The group's timeout
 * bounds the operation. Cancelling a future has no effect on the operation.
 *
 * <p>May be used by several threads, which must agree on the order of collectives.
 */
public final class FunctionalCollectives {

  private static final Map<String, ReduceOp> REDUCTIONS =
      Map.of(
          "sum", ReduceOp.SUM,
          "avg", ReduceOp.AVG,
          "product", ReduceOp.PRODUCT,
          "min", ReduceOp.MIN,
          "max", ReduceOp.MAX,
          "band", ReduceOp.BAND,
          "bor", ReduceOp.BOR,
          "bxor", ReduceOp.BXOR);

  private FunctionalCollectives() {}

  /**
   * Returns a reduction by c10d's name: sum, avg, product, min, max, band, bor or bxor, in any
   * case.
   *
   * @throws IllegalArgumentException if there is none of that name
   */
  public static ReduceOp reduction(String name) {
    ReduceOp found = REDUCTIONS.get(name.toLowerCase(Locale.ROOT));
    if (found == null) {
      throw new IllegalArgumentException(
          "Unrecognized reduce_op: "
              + name
              + "; there are sum, avg, product, min, max, band, bor and bxor");
    }
    return found;
  }

  /** Begins to reduce the tensors of all ranks; the result has the shape of {@code input}. */
  public static CompletableFuture<Tensor> allReduce(ProcessGroup group, Tensor input, ReduceOp op) {
    Tensor result = Axis.copy(group, input);
    return then(group.allReduce(result, op), () -> result);
  }

  /**
   * Begins to reduce several tensors over all ranks as one operation.
   *
   * @param inputs at least one, all of one type
   * @return the reduced tensors, in the same order and shapes
   */
  public static CompletableFuture<List<Tensor>> allReduce(
      ProcessGroup group, List<Tensor> inputs, ReduceOp op) {
    List<Tensor> results = inputs.stream().map(input -> Axis.copy(group, input)).toList();
    return group.allReduceCoalesced(results, op).future().thenApply(done -> results);
  }

  /** Begins to send the tensor of rank {@code root}; the other ranks give one of its shape. */
  public static CompletableFuture<Tensor> broadcast(ProcessGroup group, Tensor input, int root) {
    Tensor result = Axis.copy(group, input);
    return then(group.broadcast(result, root), () -> result);
  }

  /**
   * Begins to put the tensors of all ranks together, in rank order.
   *
   * @param input of the same shape on all ranks
   * @param dimension along which they are put together; the result has {@code size()} times its
   *     extent there
   */
  public static CompletableFuture<Tensor> allGather(
      ProcessGroup group, Tensor input, int dimension) {
    return allGather(group, List.of(input), dimension).thenApply(FunctionalCollectives::only);
  }

  /** Begins to put each of several tensors together with those of all ranks, as one operation. */
  public static CompletableFuture<List<Tensor>> allGather(
      ProcessGroup group, List<Tensor> inputs, int dimension) {
    FunctionalCall call = new FunctionalCall(group, "all-gather");
    List<Axis> axes = inputs.stream().map(input -> Axis.of(call, input, dimension)).toList();
    List<CompletableFuture<Tensor>> results = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      Axis axis = axes.get(i);
      Axis whole = axis.withExtent(axis.extent() * group.size());
      Tensor input = Axis.copy(group, inputs.get(i));
      Tensor all = Axis.allocate(group, input, input.count() * group.size());
      results.add(then(group.allGather(all, input), () -> whole.join(group, all, group.size())));
    }
    return all(results);
  }

  /**
   * Begins to reduce the tensors of all ranks, of which each rank gets its part.
   *
   * @param input of the same shape on all ranks
   * @param dimension along which the result is cut; its extent is a multiple of {@code size()}
   */
  public static CompletableFuture<Tensor> reduceScatter(
      ProcessGroup group, Tensor input, ReduceOp op, int dimension) {
    return reduceScatter(group, List.of(input), op, dimension)
        .thenApply(FunctionalCollectives::only);
  }

  /** Begins to reduce each of several tensors, of which each rank gets its parts. */
  public static CompletableFuture<List<Tensor>> reduceScatter(
      ProcessGroup group, List<Tensor> inputs, ReduceOp op, int dimension) {
    FunctionalCall call = new FunctionalCall(group, "reduce-scatter");
    List<Axis> axes = inputs.stream().map(input -> Axis.of(call, input, dimension)).toList();
    axes.forEach(axis -> axis.divisible(call, group.size()));
    inputs.forEach(
        input ->
            call.require(
                op.supports(input.dtype()), () -> op + " is not defined for " + input.dtype()));
    List<CompletableFuture<Tensor>> results = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      Axis axis = axes.get(i);
      Tensor parts = axis.cut(group, inputs.get(i), group.size());
      Tensor own = Axis.allocate(group, parts, parts.count() / group.size());
      Tensor result = own.reshape(axis.withExtent(axis.extent() / group.size()).shape());
      results.add(then(group.reduceScatter(own, parts, op), () -> result));
    }
    return all(results);
  }

  /**
   * Begins to send equal parts of the first dimension, one to each rank, and to receive one from
   * each.
   *
   * @param input whose first extent is a multiple of {@code size()}
   * @return of the shape of {@code input}, the parts in rank order
   */
  public static CompletableFuture<Tensor> allToAll(ProcessGroup group, Tensor input) {
    FunctionalCall call = new FunctionalCall(group, "all-to-all");
    Axis.of(call, input, 0).divisible(call, group.size());
    Tensor copy = Axis.copy(group, input);
    Tensor result = Axis.allocate(group, input, input.count()).reshape(input.shape());
    return then(group.allToAll(result, copy), () -> result);
  }

  /**
   * Begins to send parts of the first dimension, one to each rank, and to receive one from each.
   *
   * @param outputSplits how many rows come from each rank; null or empty for equal parts
   * @param inputSplits how many rows go to each rank; null or empty for equal parts, and then the
   *     others are too
   */
  public static CompletableFuture<Tensor> allToAll(
      ProcessGroup group, Tensor input, long[] outputSplits, long[] inputSplits) {
    FunctionalCall call = new FunctionalCall(group, "all-to-all");
    boolean equal = isEmpty(outputSplits);
    call.require(
        equal == isEmpty(inputSplits),
        () ->
            "give both splits or neither, not "
                + Arrays.toString(outputSplits)
                + " for the output and "
                + Arrays.toString(inputSplits)
                + " for the input");
    if (equal) {
      return allToAll(group, input);
    }
    long[] shape = Axis.shapeOf(input);
    call.require(
        Arrays.stream(outputSplits).allMatch(each -> each >= 0),
        () -> "an output split is negative in " + Arrays.toString(outputSplits));
    Tensor copy = Axis.copy(group, input).reshape(shape);
    long row = LongStream.of(shape).skip(1).reduce(1, Math::multiplyExact);
    shape[0] = LongStream.of(outputSplits).reduce(0, Math::addExact);
    Tensor result = Axis.allocate(group, input, Math.multiplyExact(shape[0], row)).reshape(shape);
    Work work = group.allToAll(result, copy, outputSplits.clone(), inputSplits.clone());
    return then(work, () -> result);
  }

  /**
   * Begins to change the dimension along which a tensor is spread over the ranks: c10d's {@code
   * shard_dim_alltoall}.
   *
   * @param input this rank's part of a tensor that is cut along {@code gatherDimension}
   * @param gatherDimension the dimension in which the result is whole
   * @param cutDimension the dimension along which the result is cut; its extent is a multiple of
   *     {@code size()}
   */
  public static CompletableFuture<Tensor> exchangeDimensions(
      ProcessGroup group, Tensor input, int gatherDimension, int cutDimension) {
    FunctionalCall call = new FunctionalCall(group, "exchange of dimensions");
    Axis gathered = Axis.of(call, input, gatherDimension);
    Axis cut = Axis.of(call, input, cutDimension);
    cut.divisible(call, group.size());
    Tensor parts = cut.cut(group, input, group.size());
    Tensor received = Axis.allocate(group, input, input.count());
    long[] part = cut.withExtent(cut.extent() / group.size()).shape();
    long extent = part[gathered.dimension()] * group.size();
    Axis whole = new Axis(part, gathered.dimension()).withExtent(extent);
    return then(group.allToAll(received, parts), () -> whole.join(group, received, group.size()));
  }

  /**
   * Begins to send each rank's tensor to another rank: c10d's {@code permute_tensor}.
   *
   * @param input of the same shape on all ranks
   * @param destinations where the tensor of each rank goes; each rank once, the same on all ranks
   * @return the tensor that came here
   */
  public static CompletableFuture<Tensor> permute(
      ProcessGroup group, Tensor input, int... destinations) {
    FunctionalCall call = new FunctionalCall(group, "permutation");
    int[] sorted = destinations.clone();
    Arrays.sort(sorted);
    boolean each = sorted.length == group.size();
    for (int i = 0; each && i < sorted.length; i++) {
      each = sorted[i] == i;
    }
    call.require(
        each,
        () ->
            "the destinations "
                + Arrays.toString(destinations)
                + " must name each of the ranks 0 to "
                + (group.size() - 1)
                + " once");
    long[] to = new long[group.size()];
    long[] from = new long[group.size()];
    to[destinations[group.rank()]] = input.count();
    for (int rank = 0; rank < group.size(); rank++) {
      if (destinations[rank] == group.rank()) {
        from[rank] = input.count();
      }
    }
    Tensor copy = Axis.copy(group, input).reshape(input.count());
    Tensor result = Axis.allocate(group, input, input.count());
    return then(group.allToAll(result, copy, from, to), () -> result.reshape(input.shape()));
  }

  private static boolean isEmpty(long[] splits) {
    return splits == null || splits.length == 0;
  }

  private static CompletableFuture<Tensor> then(Work work, Supplier<Tensor> result) {
    return work.future().thenApply(done -> result.get());
  }

  private static Tensor only(List<Tensor> tensors) {
    return tensors.get(0);
  }

  private static CompletableFuture<List<Tensor>> all(List<CompletableFuture<Tensor>> results) {
    return CompletableFuture.allOf(results.toArray(CompletableFuture<?>[]::new))
        .thenApply(done -> results.stream().map(CompletableFuture::join).toList());
  }
}
