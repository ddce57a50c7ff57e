package org.sparkcollectives.reproducible;

import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Reads and writes a block of a tensor of float32 or float64 as float64. Not thread-safe. */
final class TileReader {

  private final double[] tile = new double[BinnedBlock.LENGTH];
  private final float[] narrow = new float[BinnedBlock.LENGTH];

  /** Returns a tile whose first elements are those of the tensor from {@code offset} on. */
  double[] read(HostTensor from, long offset, int count) {
    if (from.dtype() == DType.FLOAT64) {
      from.toArray(offset, count, tile, 0);
      return tile;
    }
    from.toArray(offset, count, narrow, 0);
    for (int i = 0; i < count; i++) {
      tile[i] = narrow[i];
    }
    return tile;
  }

  /** Returns a tile to be filled and written. */
  double[] tile() {
    return tile;
  }

  /** Writes the first elements of the tile to the tensor from {@code offset} on. */
  void write(HostTensor to, long offset, int count) {
    if (to.dtype() == DType.FLOAT64) {
      to.fromArray(offset, count, tile, 0);
      return;
    }
    for (int i = 0; i < count; i++) {
      narrow[i] = (float) tile[i];
    }
    to.fromArray(offset, count, narrow, 0);
  }
}
