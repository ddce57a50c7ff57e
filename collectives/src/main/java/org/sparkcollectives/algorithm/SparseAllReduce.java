package org.sparkcollectives.algorithm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Peers;

/**
 * Sum of sparse tensors: all-gather of how much each rank stores, of the places, and of the values;
 * then each rank adds up by itself, in the same order.
 *
 * <p>Steps: those of three all-gathers. Bytes sent by each rank: what is stored on all ranks but
 * one.
 */
final class SparseAllReduce {

  /** What the ranks tell each other first: nnz, sparse dimensions, a hash of the shape. */
  private static final int HEAD = 3;

  /** Gathers inputs that may differ in size. */
  interface Gathering {
    void allGather(Peers peers, List<HostTensor> outputs, HostTensor input);
  }

  SparseTensor run(Peers peers, SparseTensor tensor, Gathering gathering) {
    int n = peers.size();
    long[] own = {tensor.stored(), tensor.sparseDimensions(), Arrays.hashCode(tensor.shape())};
    long[] heads = new long[HEAD * n];
    HostTensor allHeads = HostTensor.wrap(DType.INT64, heads);
    List<HostTensor> each = new ArrayList<>();
    for (int rank = 0; rank < n; rank++) {
      each.add(allHeads.slice((long) rank * HEAD, HEAD));
    }
    gathering.allGather(peers, each, HostTensor.wrap(DType.INT64, own));

    HostTensor values = HostTensor.of(tensor.values());
    long row = tensor.stored() == 0 ? rowCount(tensor) : values.count() / tensor.stored();
    long total = 0;
    for (int rank = 0; rank < n; rank++) {
      requireAlike(
          peers, tensor, rank, own, Arrays.copyOfRange(heads, rank * HEAD, (rank + 1) * HEAD));
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
    gathering.allGather(peers, indicesOfEach, HostTensor.of(tensor.indices()));
    gathering.allGather(peers, valuesOfEach, values);
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

  private static void requireAlike(
      Peers peers, SparseTensor tensor, int rank, long[] own, long[] theirs) {
    if (own[1] != theirs[1] || own[2] != theirs[2]) {
      throw new CollectiveMismatchException(
          "rank "
              + peers.rank()
              + " sums up a sparse tensor of shape "
              + Arrays.toString(tensor.shape())
              + " with "
              + own[1]
              + " sparse dimensions, but rank "
              + rank
              + " one of "
              + (own[1] == theirs[1] ? "another shape" : theirs[1] + " sparse dimensions")
              + ". All ranks must give tensors of one shape");
    }
  }
}
