package org.sparkcollectives.internal.failure;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.sparkcollectives.CallAgreement;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.recorder.RecordedOperation;
import org.sparkcollectives.recorder.RecordedShapes;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.OperationHeader;

/**
 * What a user called: in the words of errors and records, and as peers are told.
 *
 * @param type the operation
 * @param dtype the type of the elements, or null of a barrier
 * @param inputCount the number of elements given
 * @param outputCount the number of elements expected
 * @param agreedCount the number of elements on which all ranks must agree; 0 where it may differ
 * @param op the reduction, or null
 * @param root the root, or {@link OperationHeader#NO_ROOT}
 * @param sizes a digest of the sizes of a list on which all ranks must agree, or 0
 * @param detail the peer and tag of a message; else empty
 * @param shapes of the tensors, for records
 */
public record OperationDescription(
    OpType type,
    DType dtype,
    long inputCount,
    long outputCount,
    long agreedCount,
    ReduceOp op,
    int root,
    int sizes,
    String detail,
    RecordedShapes shapes)
    implements RecordedOperation {

  /** A collective without reduction and root. */
  public static OperationDescription collective(
      OpType type, DType dtype, long inputCount, long outputCount, long agreedCount) {
    return new OperationDescription(
        type,
        dtype,
        inputCount,
        outputCount,
        agreedCount,
        null,
        OperationHeader.NO_ROOT,
        0,
        "",
        RecordedShapes.ofCounts(inputCount, outputCount));
  }

  /** A message. */
  public static OperationDescription message(
      OpType type, DType dtype, long inputCount, long outputCount, String detail) {
    return new OperationDescription(
        type,
        dtype,
        inputCount,
        outputCount,
        0,
        null,
        OperationHeader.NO_ROOT,
        0,
        detail,
        RecordedShapes.ofCounts(inputCount, outputCount));
  }

  /** The same with a reduction. */
  public OperationDescription reducing(ReduceOp reduction) {
    return new OperationDescription(
        type, dtype, inputCount, outputCount, agreedCount, reduction, root, sizes, detail, shapes);
  }

  /** The same with a list of tensors that all ranks give with the same sizes. */
  public OperationDescription withSizesOf(List<HostTensor> tensors) {
    int digest = Arrays.hashCode(tensors.stream().mapToLong(HostTensor::count).toArray());
    return new OperationDescription(
        type,
        dtype,
        inputCount,
        outputCount,
        agreedCount,
        op,
        root,
        digest == 0 ? 1 : digest,
        detail,
        shapes);
  }

  /** The same on tensors of these shapes. */
  public OperationDescription shaped(RecordedShapes others) {
    return new OperationDescription(
        type, dtype, inputCount, outputCount, agreedCount, op, root, sizes, detail, others);
  }

  /** The same with a root. */
  public OperationDescription rootedAt(int rank) {
    return new OperationDescription(
        type, dtype, inputCount, outputCount, agreedCount, op, rank, sizes, detail, shapes);
  }

  /** What peers are told. */
  public OperationHeader header(long sequenceNumber) {
    return new OperationHeader(
        type,
        sequenceNumber,
        dtype == null ? DType.UINT8 : dtype,
        agreedCount,
        op == null ? null : op.kind(),
        root,
        sizes);
  }

  /** The call, the same on all ranks that agree. */
  public CollectiveCall call(int rank, long sequenceNumber, CallAgreement agreement) {
    return new CollectiveCall(
        rank,
        type,
        sequenceNumber,
        dtype,
        agreedCount > 0 ? agreedCount : -1,
        agreement.shapes().get().stream()
            .map(shape -> Arrays.stream(shape).boxed().toList())
            .toList(),
        agreement.device(),
        op == null ? null : op.kind(),
        root);
  }

  @Override
  public String particulars() {
    String reduction = op == null ? "" : op.toString();
    String rootText = root == OperationHeader.NO_ROOT ? "" : "root " + root;
    String separator = reduction.isEmpty() || rootText.isEmpty() ? "" : ", ";
    return reduction + separator + rootText + detail;
  }

  /** The operation with its number, such as {@code all-reduce #7 (float32 x 1,024, SUM)}. */
  public String numbered(long sequenceNumber) {
    StringBuilder text = new StringBuilder(type.label()).append(" #").append(sequenceNumber);
    String separator = " (";
    if (dtype != null) {
      long count = Math.max(inputCount, outputCount);
      text.append(separator)
          .append(dtype.label())
          .append(" x ")
          .append(String.format(Locale.ROOT, "%,d", count));
      separator = ", ";
    }
    if (!particulars().isEmpty()) {
      text.append(separator).append(particulars());
      separator = ", ";
    }
    return separator.equals(", ") ? text.append(')').toString() : text.toString();
  }
}
