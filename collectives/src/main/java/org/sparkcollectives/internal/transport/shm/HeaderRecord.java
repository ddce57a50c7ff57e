package org.sparkcollectives.internal.transport.shm;

import java.nio.ByteBuffer;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.OperationHeader;

/**
 * The layout of an operation in memory that processes share, so that ranks can compare theirs field
 * by field:
 *
 * <pre>
 *     0  sequence number i64 | count i64 | digest of the sizes i32 | root i32
 *          | operation u8 | type u8 | code of the reduction u8
 * </pre>
 */
final class HeaderRecord {

  /** The size of a record. */
  static final int BYTES = 32;

  private static final int COUNT = 8;
  private static final int SIZES = 16;
  private static final int ROOT = 20;
  private static final int OPERATION = 24;
  private static final int DTYPE = 25;
  private static final int REDUCTION = 26;
  private static final DType[] DTYPES = DType.values();

  private HeaderRecord() {}

  static void write(ByteBuffer memory, int at, OperationHeader header) {
    memory
        .putLong(at, header.sequenceNumber())
        .putLong(at + COUNT, header.count())
        .putInt(at + SIZES, header.sizes())
        .putInt(at + ROOT, header.root())
        .put(at + OPERATION, (byte) header.type().code())
        .put(at + DTYPE, (byte) header.dtype().ordinal())
        .put(at + REDUCTION, header.reductionCode());
  }

  /** Returns whether {@code header} is what was written. */
  static boolean is(ByteBuffer memory, int at, OperationHeader header) {
    return memory.getLong(at) == header.sequenceNumber()
        && memory.getLong(at + COUNT) == header.count()
        && memory.getInt(at + SIZES) == header.sizes()
        && memory.getInt(at + ROOT) == header.root()
        && memory.get(at + OPERATION) == (byte) header.type().code()
        && memory.get(at + DTYPE) == (byte) header.dtype().ordinal()
        && memory.get(at + REDUCTION) == header.reductionCode();
  }

  /** Returns what was written. */
  static OperationHeader read(ByteBuffer memory, int at) {
    return new OperationHeader(
        OpType.ofCode(memory.get(at + OPERATION)),
        memory.getLong(at),
        DTYPES[memory.get(at + DTYPE)],
        memory.getLong(at + COUNT),
        OperationHeader.reductionOf(memory.get(at + REDUCTION)),
        memory.getInt(at + ROOT),
        memory.getInt(at + SIZES));
  }
}
