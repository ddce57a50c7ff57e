package org.sparkcollectives.zero;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Moves the elements of tensors to or from a stream, piece by piece and in native byte order, and
 * sums up their bytes.
 */
final class ElementBytes {

  private static final int PIECE_BYTES = 256 << 10;

  private final ByteBuffer direct =
      ByteBuffer.allocateDirect(PIECE_BYTES).order(ByteOrder.nativeOrder());

  private final byte[] piece = new byte[PIECE_BYTES];
  private final CRC32 sum = new CRC32();

  /** Writes the elements of a tensor. */
  void write(HostTensor tensor, OutputStream out) throws IOException {
    for (long offset = 0; offset < tensor.count(); ) {
      int count = next(tensor, offset);
      int bytes = count * tensor.dtype().bytes();
      tensor.read(offset, count, direct.clear());
      direct.flip().get(piece, 0, bytes);
      sum.update(piece, 0, bytes);
      out.write(piece, 0, bytes);
      offset += count;
    }
  }

  /** Overwrites the elements of a tensor. */
  void read(DataInputStream in, HostTensor tensor) throws IOException {
    for (long offset = 0; offset < tensor.count(); ) {
      int count = next(tensor, offset);
      int bytes = count * tensor.dtype().bytes();
      in.readFully(piece, 0, bytes);
      sum.update(piece, 0, bytes);
      tensor.write(offset, count, direct.clear().put(piece, 0, bytes).flip());
      offset += count;
    }
  }

  /** Returns the checksum of all bytes that were moved. */
  long checksum() {
    return sum.getValue();
  }

  private static int next(HostTensor tensor, long offset) {
    return (int) Math.min(tensor.count() - offset, PIECE_BYTES / tensor.dtype().bytes());
  }
}
