package org.sparkcollectives.zero;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorBytes;

/**
 * The form in which the state of an optimizer is in a file: a header with names, types and shapes,
 * then the elements. Each of the two is followed by its checksum, so that a damaged state is
 * refused. The header's is checked before memory is allocated.
 */
final class StateStream {

  private static final long MARK = 0x5a65726f53746174L; // "ZeroStat" in ASCII.
  private static final int FORMAT = 1;
  private static final int PIECE_BYTES = 1 << 20;

  private StateStream() {}

  static void write(Map<String, Map<String, Tensor>> parameters, DataOutputStream out)
      throws IOException {
    out.writeLong(MARK);
    out.writeInt(FORMAT);
    byte[] header = header(parameters);
    out.writeInt(header.length);
    out.write(header);
    out.writeLong(checksum(header));
    TensorBytes elements = new TensorBytes(tensors(parameters));
    CRC32 sum = new CRC32();
    while (!elements.isAtEnd()) {
      byte[] piece = elements.next(PIECE_BYTES);
      sum.update(piece);
      out.write(piece);
    }
    out.writeLong(sum.getValue());
    out.flush();
  }

  static Map<String, Map<String, Tensor>> read(DataInputStream in) throws IOException {
    try {
      if (in.readLong() != MARK) {
        throw new IOException("This is no state of an optimizer");
      }
      int format = in.readInt();
      if (format != FORMAT) {
        throw new IOException(
            "The state of an optimizer is of format " + format + "; this version reads " + FORMAT);
      }
      Map<String, Map<String, Tensor>> parameters = allocate(readHeader(in));
      TensorBytes elements = new TensorBytes(tensors(parameters));
      CRC32 sum = new CRC32();
      while (!elements.isAtEnd()) {
        byte[] piece = new byte[elements.nextLength(PIECE_BYTES)];
        in.readFully(piece);
        sum.update(piece);
        elements.fill(piece);
      }
      check(in, sum.getValue());
      return parameters;
    } catch (EOFException e) {
      throw new IOException("The state of an optimizer ends early", e);
    }
  }

  private static List<HostTensor> tensors(Map<String, Map<String, Tensor>> parameters) {
    return parameters.values().stream()
        .flatMap(parts -> parts.values().stream())
        .map(HostTensor::of)
        .toList();
  }

  private static byte[] header(Map<String, Map<String, Tensor>> parameters) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeBoolean(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN);
    out.writeInt(parameters.size());
    for (Map.Entry<String, Map<String, Tensor>> each : parameters.entrySet()) {
      out.writeUTF(each.getKey());
      out.writeInt(each.getValue().size());
      for (Map.Entry<String, Tensor> part : each.getValue().entrySet()) {
        out.writeUTF(part.getKey());
        out.writeUTF(part.getValue().dtype().name());
        long[] shape = part.getValue().shape();
        out.writeInt(shape.length);
        for (long extent : shape) {
          out.writeLong(extent);
        }
      }
    }
    return bytes.toByteArray();
  }

  private static byte[] readHeader(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0) {
      throw new IOException("The state of an optimizer is damaged: a length is " + length);
    }
    byte[] header = in.readNBytes(length); // Allocates as it reads.
    if (header.length < length) {
      throw new EOFException();
    }
    check(in, checksum(header));
    return header;
  }

  /** Returns tensors of zeros by the names in the header. */
  private static Map<String, Map<String, Tensor>> allocate(byte[] header) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(header));
    ByteOrder order = in.readBoolean() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
    if (order != ByteOrder.nativeOrder()) {
      throw new IOException(
          "The state of an optimizer is "
              + order
              + ", and this machine is "
              + ByteOrder.nativeOrder());
    }
    Map<String, Map<String, Tensor>> parameters = new LinkedHashMap<>();
    for (int left = in.readInt(); left > 0; left--) {
      String parameter = in.readUTF();
      Map<String, Tensor> parts = new LinkedHashMap<>();
      for (int of = in.readInt(); of > 0; of--) {
        parts.put(in.readUTF(), allocate(in));
      }
      parameters.put(parameter, parts);
    }
    return parameters;
  }

  private static Tensor allocate(DataInputStream in) throws IOException {
    String dtype = in.readUTF();
    List<Long> extents = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      extents.add(in.readLong());
    }
    long[] shape = extents.stream().mapToLong(extent -> extent).toArray();
    try {
      return HostTensor.allocate(DType.valueOf(dtype), HostTensor.count(shape)).reshape(shape);
    } catch (IllegalArgumentException e) {
      throw new IOException(
          "The state of an optimizer has a tensor that cannot be read: " + e.getMessage(), e);
    }
  }

  private static long checksum(byte[] bytes) {
    CRC32 sum = new CRC32();
    sum.update(bytes);
    return sum.getValue();
  }

  private static void check(DataInputStream in, long computed) throws IOException {
    long written = in.readLong();
    if (written != computed) {
      throw new IOException(
          "The state of an optimizer is damaged: the checksum is "
              + computed
              + ", and was "
              + written);
    }
  }
}
