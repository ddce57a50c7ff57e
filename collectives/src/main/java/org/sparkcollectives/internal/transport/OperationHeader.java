package org.sparkcollectives.internal.transport;

import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.OperationSpec;

/**
 * The operation of a rank, as each message of a collective states it to its peers. If two ranks
 * differ in any of these fields, their calls do not match.
 *
 * @param type the operation
 * @param sequenceNumber the operation's number in its group
 * @param dtype the type of the elements; of a barrier, {@link DType#UINT8}
 * @param count the number of elements of the operation as its ranks must agree on it; 0 where it
 *     may differ by rank
 * @param reduction what is done with the elements, or null
 * @param root the root, or {@link #NO_ROOT}
 * @param sizes a digest of the sizes of the tensors in a list that its ranks must give alike; 0
 *     where there is no such list
 */
public record OperationHeader(
    OpType type,
    long sequenceNumber,
    DType dtype,
    long count,
    ReduceOp.Kind reduction,
    int root,
    int sizes) {

  /** The root of an operation that has none. */
  public static final int NO_ROOT = -1;

  private static final ReduceOp.Kind[] REDUCTIONS = ReduceOp.Kind.values();

  /** Creates the header of an operation without a reduction and a root. */
  public OperationHeader(OpType type, long sequenceNumber, DType dtype, long count) {
    this(type, sequenceNumber, dtype, count, null, NO_ROOT, 0);
  }

  /** Returns what the peers of a rank are told of its call. */
  public static OperationHeader of(OperationSpec spec, long sequenceNumber) {
    return new OperationHeader(
        spec.type(),
        sequenceNumber,
        spec.dtype() == null ? DType.UINT8 : spec.dtype(),
        spec.agreedCount(),
        spec.reduction() == null ? null : spec.reduction().kind(),
        spec.root() == OperationSpec.NONE ? NO_ROOT : spec.root(),
        spec.sizesDigest());
  }

  /** The reduction where headers are written down: its ordinal + 1, or 0 for none. */
  public byte reductionCode() {
    return (byte) (reduction == null ? 0 : reduction.ordinal() + 1);
  }

  /** Returns whether {@link #reductionCode} gives this code for some operation. */
  public static boolean isReductionCode(int code) {
    return code >= 0 && code <= REDUCTIONS.length;
  }

  /** The reduction, or null, of a code that {@link #reductionCode} gives. */
  public static ReduceOp.Kind reductionOf(int code) {
    return code == 0 ? null : REDUCTIONS[code - 1];
  }

  @Override
  public String toString() {
    return type.label()
        + " #"
        + sequenceNumber
        + " ("
        + dtype.label()
        + " x "
        + count
        + (reduction == null ? "" : ", " + reduction)
        + (root == NO_ROOT ? "" : ", root " + root)
        + (sizes == 0 ? "" : ", sizes with digest " + Integer.toHexString(sizes))
        + ")";
  }
}
