package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The reduction of several tensors of equal count that all lie in memory, a tile at a time: what
 * one tile takes of each fits into a processor's own cache, so main memory is read and written once
 * only.
 */
final class TileReduction {

  private static final int TILE_BYTES = 16 << 10;

  private final ReduceKernel kernel;
  private final int tile;
  private final HostTensor accumulator;

  /** Creates a reduction by a kernel whose inputs have been multiplied. */
  TileReduction(ReduceKernel kernel) {
    this.kernel = kernel;
    this.tile = TILE_BYTES / kernel.accumulatorType().bytes();
    this.accumulator =
        kernel.reducesInPlace() && kernel.resultType() == kernel.accumulatorType()
            ? null
            : HostTensor.allocate(kernel.accumulatorType(), tile);
  }

  /** Receives each tile when it is reduced. */
  interface AfterTile {
    void reduced(long offset, long count);
  }

  /**
   * Reduces {@code first} and {@code others} into {@code result}, in that order.
   *
   * @param result may be {@code first}
   * @param afterTile gets the range of each tile once it is reduced
   */
  void run(HostTensor result, HostTensor first, List<HostTensor> others, AfterTile afterTile) {
    long count = result.count();
    for (long offset = 0; offset < count; offset += tile) {
      long n = Math.min(tile, count - offset);
      if (accumulator == null) {
        reduceInPlace(result, first, others, offset, n);
      } else {
        reduceApart(result, first, others, offset, n);
      }
      afterTile.reduced(offset, n);
    }
  }

  private void reduceInPlace(
      HostTensor result, HostTensor first, List<HostTensor> others, long offset, long n) {
    if (result != first) {
      result.copyFrom(offset, first, offset, n);
    }
    for (HostTensor other : others) {
      kernel.accumulate(result, offset, other, offset, n);
    }
    kernel.finish(result, offset, result, offset, n, others.size() + 1);
  }

  private void reduceApart(
      HostTensor result, HostTensor first, List<HostTensor> others, long offset, long n) {
    kernel.load(accumulator, 0, first, offset, n);
    for (HostTensor other : others) {
      kernel.accumulate(accumulator, 0, other, offset, n);
    }
    kernel.finish(result, offset, accumulator, 0, n, others.size() + 1);
  }
}
