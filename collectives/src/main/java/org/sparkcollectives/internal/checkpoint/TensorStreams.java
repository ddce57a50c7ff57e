package org.sparkcollectives.internal.checkpoint;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Writes tensors to a stream and reads them again, with the layout and the bytes of a part of a
 * checkpoint. Sums of both are in the stream, so that what was damaged is refused; that of the
 * layout is checked before memory is allocated.
 */
public final class TensorStreams {

  private static final int PIECE_BYTES = 1 << 20;

  private TensorStreams() {}

  /** Writes tensors. Does not close or flush the stream. */
  public static void write(List<HostTensor> tensors, DataOutputStream out) throws IOException {
    byte[] layout = PartLayout.of(tensors).encode();
    out.writeInt(layout.length);
    out.write(layout);
    out.writeLong(sum(new CRC32(), layout));
    TensorBytes bytes = new TensorBytes(tensors);
    CRC32 sum = new CRC32();
    while (!bytes.isAtEnd()) {
      byte[] piece = bytes.next(PIECE_BYTES);
      sum(sum, piece);
      out.write(piece);
    }
    out.writeLong(sum.getValue());
  }

  /**
   * Reads tensors into new memory on the heap. Reads no byte more.
   *
   * @throws IOException if the stream ends early, or does not have what {@link #write} has written
   *     on a machine with the same byte order
   */
  public static List<HostTensor> read(DataInputStream in) throws IOException {
    byte[] encoded = bytes(in, in.readInt());
    requireSum(in, sum(new CRC32(), encoded));
    List<HostTensor> tensors = allocate(encoded);
    TensorBytes bytes = new TensorBytes(tensors);
    CRC32 sum = new CRC32();
    while (!bytes.isAtEnd()) {
      byte[] piece = bytes(in, bytes.nextLength(PIECE_BYTES));
      sum(sum, piece);
      bytes.fill(piece);
    }
    requireSum(in, sum.getValue());
    return tensors;
  }

  private static List<HostTensor> allocate(byte[] encoded) throws IOException {
    List<HostTensor> tensors = new ArrayList<>();
    try {
      PartLayout layout = PartLayout.decode(encoded);
      if (layout.byteOrder() != ByteOrder.nativeOrder()) {
        throw new IOException(
            "The tensors are "
                + layout.byteOrder()
                + ", and this machine is "
                + ByteOrder.nativeOrder());
      }
      for (PartLayout.Entry each : layout.entries()) {
        long[] shape = each.shape().stream().mapToLong(extent -> extent).toArray();
        tensors.add(HostTensor.allocate(each.dtype(), HostTensor.count(shape)).reshape(shape));
      }
    } catch (IllegalArgumentException | IllegalStateException e) {
      throw new IOException("The layout of the tensors cannot be read: " + e.getMessage(), e);
    }
    return tensors;
  }

  private static byte[] bytes(DataInputStream in, int length) throws IOException {
    if (length < 0) {
      throw new IOException("These are no tensors: a length is " + length);
    }
    byte[] bytes = in.readNBytes(length); // Allocates as it reads.
    if (bytes.length < length) {
      throw new EOFException("The tensors end after " + bytes.length + " of " + length + " bytes");
    }
    return bytes;
  }

  private static long sum(CRC32 sum, byte[] bytes) {
    sum.update(bytes);
    return sum.getValue();
  }

  private static void requireSum(DataInputStream in, long computed) throws IOException {
    long written = in.readLong();
    if (written != computed) {
      throw new IOException(
          "The tensors are damaged: the sum of their bytes is "
              + computed
              + ", and was "
              + written);
    }
  }
}
