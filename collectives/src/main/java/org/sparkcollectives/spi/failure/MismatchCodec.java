package org.sparkcollectives.spi.failure;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;

/**
 * Encodes {@link CollectiveMismatchException} and {@link CollectiveCall} as bytes for other ranks.
 */
public final class MismatchCodec {

  private static final DType[] DTYPES = DType.values();
  private static final Device.Type[] DEVICES = Device.Type.values();
  private static final ReduceOp.Kind[] REDUCTIONS = ReduceOp.Kind.values();

  private MismatchCodec() {}

  /** Returns the bytes of a call. */
  public static byte[] encode(CollectiveCall call) {
    return bytes(out -> write(out, call));
  }

  /**
   * Returns the call that {@link #encode(CollectiveCall)} made the bytes of.
   *
   * @throws UncheckedIOException if it did not
   */
  public static CollectiveCall decodeCall(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      return read(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The bytes of an exception, of which the message comes last. */
  public static byte[] encode(CollectiveMismatchException mismatch) {
    return bytes(
        out -> {
          writeAll(out, mismatch.calls());
          out.write(mismatch.getMessage().getBytes(StandardCharsets.UTF_8));
        });
  }

  /**
   * The exception that {@link #encode(CollectiveMismatchException)} made the bytes of; the message
   * may have been cut off.
   *
   * @throws UncheckedIOException if it did not
   */
  public static CollectiveMismatchException decodeMismatch(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      List<CollectiveCall> calls = readAll(in);
      return new CollectiveMismatchException(
          new String(in.readAllBytes(), StandardCharsets.UTF_8), calls);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private interface Writing {
    void to(DataOutputStream out) throws IOException;
  }

  private static byte[] bytes(Writing writing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      writing.to(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Writes two calls, or none. */
  public static void writeAll(DataOutputStream out, List<CollectiveCall> calls) throws IOException {
    out.writeBoolean(!calls.isEmpty());
    for (CollectiveCall call : calls) {
      write(out, call);
    }
  }

  /**
   * Reads what {@link #writeAll} has written.
   *
   * @throws IOException if it was not that
   */
  public static List<CollectiveCall> readAll(DataInputStream in) throws IOException {
    return in.readBoolean() ? List.of(read(in), read(in)) : List.of();
  }

  private static void write(DataOutputStream out, CollectiveCall call) throws IOException {
    out.writeInt(call.rank());
    out.writeByte(call.operation().code());
    out.writeLong(call.sequenceNumber());
    out.writeByte(call.dtype() == null ? -1 : call.dtype().ordinal());
    out.writeLong(call.count());
    out.writeByte(call.device().ordinal());
    out.writeByte(call.reduction() == null ? 0 : call.reduction().ordinal() + 1);
    out.writeInt(call.root());
    out.writeInt(call.shapes().size());
    for (List<Long> shape : call.shapes()) {
      out.writeInt(shape.size());
      for (long length : shape) {
        out.writeLong(length);
      }
    }
  }

  private static CollectiveCall read(DataInputStream in) throws IOException {
    int rank = in.readInt();
    OpType operation = OpType.ofCode(in.readByte());
    long sequenceNumber = in.readLong();
    int dtype = in.readByte();
    long count = in.readLong();
    int device = in.readByte();
    int reduction = in.readByte();
    int root = in.readInt();
    if (operation == OpType.UNKNOWN
        || dtype < -1
        || dtype >= DTYPES.length
        || device < 0
        || device >= DEVICES.length
        || reduction < 0
        || reduction > REDUCTIONS.length) {
      throw new IOException("a call of an operation that does not exist");
    }
    List<List<Long>> shapes = new ArrayList<>();
    int tensors = in.readInt();
    for (int i = 0; i < tensors; i++) {
      List<Long> shape = new ArrayList<>();
      int dimensions = in.readInt();
      for (int j = 0; j < dimensions; j++) {
        shape.add(in.readLong());
      }
      shapes.add(shape);
    }
    return new CollectiveCall(
        rank,
        operation,
        sequenceNumber,
        new CollectiveCall.Tensors(
            dtype < 0 ? null : DTYPES[dtype], count, shapes, DEVICES[device]),
        reduction == 0 ? null : REDUCTIONS[reduction - 1],
        root);
  }
}
