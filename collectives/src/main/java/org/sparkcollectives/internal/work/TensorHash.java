package org.sparkcollectives.internal.work;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import java.util.zip.CRC32C;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Hashes what tensors hold, to find out where the ranks of a group, or two runs of a program, begin
 * to differ. Equal bits give equal hashes, whatever memory they are in.
 */
final class TensorHash {

  private static final int TILE_BYTES = 64 << 10;

  private TensorHash() {}

  /**
   * Returns a hash of the elements of all {@code tensors} in their order: 8 hexadecimal digits.
   * Empty if there are none, or one is not in host memory.
   */
  static String of(List<? extends Tensor> tensors) {
    if (tensors.isEmpty() || !tensors.stream().allMatch(HostTensor.class::isInstance)) {
      return "";
    }
    CRC32C hash = new CRC32C();
    ByteBuffer tile = ByteBuffer.allocateDirect(TILE_BYTES).order(ByteOrder.nativeOrder());
    for (Tensor tensor : tensors) {
      add((HostTensor) tensor, hash, tile);
    }
    return String.format(Locale.ROOT, "%08x", hash.getValue());
  }

  private static void add(HostTensor tensor, CRC32C hash, ByteBuffer tile) {
    int elements = TILE_BYTES / tensor.dtype().bytes();
    for (long offset = 0; offset < tensor.count(); offset += elements) {
      int count = (int) Math.min(elements, tensor.count() - offset);
      tile.clear();
      tensor.read(offset, count, tile);
      tile.flip();
      hash.update(tile);
    }
  }
}
