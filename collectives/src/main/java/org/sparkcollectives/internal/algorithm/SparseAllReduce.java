package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Sum of sparse tensors: all-gather of how much each rank stores, of the places, and of the values;
 * then each rank adds up by itself, in the same order.
 *
 * <p>Steps: those of three all-gathers. Bytes sent by each rank: what is stored on all ranks but
 * one.
 */
final class SparseAllReduce {

  /**
   * The fields that every rank sends first: nnz, the numbers of sparse and of all dimensions, and a
   * hash of the shape.
   */
  private static final int HEAD = 4;

  private static final int SPARSE_DIMENSIONS = 1;
  private static final int DIMENSIONS = 2;
  private static final int SHAPE_HASH = 3;

  /**
   * Sums up.
   *
   * @param call what this rank calls
   * @throws CollectiveMismatchException on every rank, with the same two calls, if the shapes
   *     differ
   */
  SparseTensor run(Peers peers, SparseTensor tensor, CollectiveCall call, Phases phases) {
    int n = peers.size();
    long[] shape = tensor.shape();
    long[] own = {tensor.stored(), tensor.sparseDimensions(), shape.length, Arrays.hashCode(shape)};
    long[] heads = new long[HEAD * n];
    HostTensor allHeads = HostTensor.wrap(DType.INT64, heads);
    List<HostTensor> each = new ArrayList<>();
    for (int rank = 0; rank < n; rank++) {
      each.add(allHeads.slice((long) rank * HEAD, HEAD));
    }
    phases.run(peers, Call.allGather(each, HostTensor.wrap(DType.INT64, own)));

    int odd = 0;
    while (odd < n && isAlike(heads, odd)) {
      odd++;
    }
    if (odd < n) {
      throw mismatch(call, heads, odd, shapes(peers, shape, heads, phases));
    }

    HostTensor values = HostTensor.of(tensor.values());
    long row = tensor.stored() == 0 ? rowCount(tensor) : values.count() / tensor.stored();
    long total = 0;
    for (int rank = 0; rank < n; rank++) {
      total += heads[rank * HEAD];
    }
    HostTensor allValues = HostTensor.allocate(values.dtype(), total * row);
    List<HostTensor> valuesOfEach = new ArrayList<>();
    List<HostTensor> indicesOfEach = new ArrayList<>();
    long done = 0;
    for (int rank = 0; rank < n; rank++) {
      long stored = heads[rank * HEAD];
      valuesOfEach.add(allValues.slice(done * row, stored * row));
      indicesOfEach.add(HostTensor.allocate(DType.INT64, stored * tensor.sparseDimensions()));
      done += stored;
    }
    phases.run(peers, Call.allGather(indicesOfEach, HostTensor.of(tensor.indices())));
    phases.run(peers, Call.allGather(valuesOfEach, values));
    return new SparseSum(tensor, indicesOfEach, allValues).sum();
  }

  private static long rowCount(SparseTensor tensor) {
    long[] shape = tensor.shape();
    long count = 1;
    for (int i = tensor.sparseDimensions(); i < shape.length; i++) {
      count *= shape[i];
    }
    return count;
  }

  /** Returns whether a rank's tensor has the shape of rank 0's. */
  private static boolean isAlike(long[] heads, int rank) {
    return heads[SPARSE_DIMENSIONS] == heads[rank * HEAD + SPARSE_DIMENSIONS]
        && heads[DIMENSIONS] == heads[rank * HEAD + DIMENSIONS]
        && heads[SHAPE_HASH] == heads[rank * HEAD + SHAPE_HASH];
  }

  /** Gathers the shapes, as all ranks do when they have seen from the heads that some differ. */
  private static List<long[]> shapes(Peers peers, long[] shape, long[] heads, Phases phases) {
    List<long[]> shapes = new ArrayList<>();
    for (int rank = 0; rank < peers.size(); rank++) {
      shapes.add(new long[(int) heads[rank * HEAD + DIMENSIONS]]);
    }
    phases.run(
        peers,
        Call.allGather(
            shapes.stream().map(each -> HostTensor.wrap(DType.INT64, each)).toList(),
            HostTensor.wrap(DType.INT64, shape)));
    return shapes;
  }

  private static CollectiveMismatchException mismatch(
      CollectiveCall call, long[] heads, int odd, List<long[]> shapes) {
    return new CollectiveMismatchException(
        "rank 0 sums up a sparse tensor of shape "
            + Arrays.toString(shapes.get(0))
            + " with "
            + heads[SPARSE_DIMENSIONS]
            + " sparse dimensions, but rank "
            + odd
            + " one of shape "
            + Arrays.toString(shapes.get(odd))
            + " with "
            + heads[odd * HEAD + SPARSE_DIMENSIONS]
            + " sparse dimensions. All ranks must give tensors of one shape",
        List.of(call(call, 0, shapes.get(0)), call(call, odd, shapes.get(odd))));
  }

  private static CollectiveCall call(CollectiveCall like, int rank, long[] shape) {
    return new CollectiveCall(
        rank,
        like.operation(),
        like.sequenceNumber(),
        new CollectiveCall.Tensors(
            like.dtype(),
            like.count(),
            List.of(Arrays.stream(shape).boxed().toList()),
            like.device()),
        like.reduction(),
        like.root());
  }
}
