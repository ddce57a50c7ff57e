package org.sparkcollectives.internal.checkpoint;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The layout of a part of a checkpoint: the types and shapes of its tensors, in order, and the byte
 * order of their elements.
 */
record PartLayout(ByteOrder byteOrder, List<Entry> entries) {

  private static final int FORMAT = 1;

  /** The type and shape of one tensor. */
  record Entry(DType dtype, List<Long> shape) {

    @Override
    public String toString() {
      return dtype.label() + shape;
    }
  }

  static PartLayout of(List<HostTensor> tensors) {
    return new PartLayout(
        ByteOrder.nativeOrder(),
        tensors.stream()
            .map(each -> new Entry(each.dtype(), Arrays.stream(each.shape()).boxed().toList()))
            .toList());
  }

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(FORMAT);
      out.writeBoolean(byteOrder == ByteOrder.LITTLE_ENDIAN);
      out.writeInt(entries.size());
      for (Entry entry : entries) {
        out.writeUTF(entry.dtype().name());
        out.writeInt(entry.shape().size());
        for (long length : entry.shape()) {
          out.writeLong(length);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // This cannot happen in memory.
    }
    return bytes.toByteArray();
  }

  /**
   * Reads what {@link #encode} has written.
   *
   * @throws IllegalStateException if it was not that
   */
  static PartLayout decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int format = in.readByte();
      if (format != FORMAT) {
        throw new IllegalStateException(
            "The checkpoint is of format " + format + "; this version reads " + FORMAT);
      }
      ByteOrder order = in.readBoolean() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
      List<Entry> entries = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        DType dtype = DType.valueOf(in.readUTF());
        List<Long> shape = new ArrayList<>();
        for (int dimensions = in.readInt(); dimensions > 0; dimensions--) {
          shape.add(in.readLong());
        }
        entries.add(new Entry(dtype, shape));
      }
      return new PartLayout(order, entries);
    } catch (IOException | IllegalArgumentException e) {
      throw new IllegalStateException("The checkpoint's layout cannot be read", e);
    }
  }

  /** Returns how {@code given} differ from the tensors that were kept; empty if they do not. */
  String difference(List<HostTensor> given) {
    PartLayout other = of(given);
    if (other.entries.size() != entries.size()) {
      return "it holds "
          + entries.size()
          + " tensors, "
          + entries
          + ", and "
          + given.size()
          + " are given, "
          + other.entries;
    }
    for (int i = 0; i < entries.size(); i++) {
      if (!entries.get(i).equals(other.entries.get(i))) {
        return "tensor "
            + i
            + " is "
            + entries.get(i)
            + " in it, and "
            + given.get(i)
            + " is given";
      }
    }
    return byteOrder == other.byteOrder
        ? ""
        : "its elements are " + byteOrder + ", and this machine is " + other.byteOrder;
  }
}
