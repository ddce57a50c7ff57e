package org.sparkcollectives.internal.transport.tcp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.OperationHeader;

/**
 * The header before the elements of a message: the sender's operation, and the message's own type
 * and count.
 *
 * <p>On the wire {@value #BYTES} bytes, in network byte order:
 *
 * <pre>
 *   0  kind: 1 a message, 2 the end of the connection (only the sequence number follows: that of
 *      the last collective which the sender called)
 *   1  byte order of the elements: 1 little-endian, 2 big-endian
 *   2  operation: OpType.code()
 *   3  operation's DType: ordinal
 *   4  message's DType: ordinal
 *   5  operation's reduction: OperationHeader.reductionCode()
 *   6  zeros
 *   8  sequence number
 *  16  operation's count
 *  24  message's count
 *  32  operation's root, or -1
 *  36  digest of the operation's sizes
 * </pre>
 *
 * @param operation what the sender is doing
 * @param dtype the type of the message's elements; differs from the operation's where an
 *     accumulator is sent
 * @param count the number of elements that follow
 */
record MessageHeader(OperationHeader operation, DType dtype, long count) {

  static final int BYTES = 40;

  private static final int NUMBER_OFFSET = 8;

  private static final byte MESSAGE = 1;
  private static final byte END = 2;
  private static final byte BYTE_ORDER =
      (byte) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 2);
  private static final DType[] DTYPES = DType.values();

  /** Returns the size of the elements that follow. */
  long payloadBytes() {
    return count * dtype.bytes();
  }

  /** Writes the header; the buffer keeps its byte order. */
  void write(ByteBuffer destination) {
    ByteOrder order = destination.order();
    destination
        .order(ByteOrder.BIG_ENDIAN)
        .put(MESSAGE)
        .put(BYTE_ORDER)
        .put((byte) operation.type().code())
        .put((byte) operation.dtype().ordinal())
        .put((byte) dtype.ordinal())
        .put(operation.reductionCode())
        .putShort((short) 0)
        .putLong(operation.sequenceNumber())
        .putLong(operation.count())
        .putLong(count)
        .putInt(operation.root())
        .putInt(operation.sizes())
        .order(order);
  }

  /**
   * Returns the bytes that announce the end of a connection.
   *
   * @param lastCollective the number of the last collective that the sender called, -1 for none
   */
  static byte[] end(long lastCollective) {
    return ByteBuffer.allocate(BYTES).put(0, END).putLong(NUMBER_OFFSET, lastCollective).array();
  }

  /**
   * Returns the sender's last collective, of bytes that {@link #read} has found to announce the
   * end.
   */
  static long lastCollective(ByteBuffer end) {
    return end.getLong(end.position() - BYTES + NUMBER_OFFSET);
  }

  /**
   * Reads a header.
   *
   * @param source a buffer in network byte order, which advances
   * @return null for the end of the connection
   * @throws TransportException if these bytes are no header
   */
  static MessageHeader read(ByteBuffer source) {
    byte kind = source.get();
    byte byteOrder = source.get();
    OpType type = OpType.ofCode(source.get());
    DType operationDtype = dtype(source.get());
    DType dtype = dtype(source.get());
    byte reduction = source.get();
    source.getShort();
    long sequenceNumber = source.getLong();
    long operationCount = source.getLong();
    long count = source.getLong();
    int root = source.getInt();
    int sizes = source.getInt();
    if (kind == END) {
      return null;
    }
    if (kind != MESSAGE) {
      throw malformed("a message of kind " + kind);
    }
    if (byteOrder != BYTE_ORDER) {
      throw malformed(
          "elements in the other byte order ("
              + byteOrder
              + ", here "
              + BYTE_ORDER
              + "); all ranks must run on machines of one byte order");
    }
    if (type == OpType.UNKNOWN
        || operationCount < 0
        || !OperationHeader.isReductionCode(reduction)) {
      throw malformed("an operation that does not exist");
    }
    if (count < 0 || count > Long.MAX_VALUE / dtype.bytes()) {
      throw malformed("a message of " + count + " elements");
    }
    return new MessageHeader(
        new OperationHeader(
            type,
            sequenceNumber,
            operationDtype,
            operationCount,
            OperationHeader.reductionOf(reduction),
            root,
            sizes),
        dtype,
        count);
  }

  private static DType dtype(byte ordinal) {
    if (ordinal < 0 || ordinal >= DTYPES.length) {
      throw malformed("elements of type " + ordinal);
    }
    return DTYPES[ordinal];
  }

  private static TransportException malformed(String what) {
    return new TransportException("it carried " + what);
  }

  @Override
  public String toString() {
    return dtype.label() + " x " + count + " in " + operation;
  }
}
