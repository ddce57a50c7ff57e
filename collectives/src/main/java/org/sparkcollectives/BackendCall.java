package org.sparkcollectives;

import java.util.Objects;
import org.sparkcollectives.recorder.RecordedShapes;

/**
 * What a user called, as a backend tells it to {@link BackendOperations}: for errors, records, and
 * the comparison of ranks.
 *
 * @param type the operation
 * @param dtype the type of the elements; null of a barrier
 * @param inputCount the number of elements given
 * @param outputCount the number of elements expected
 * @param agreedCount the number of elements on which all ranks must agree; 0 where it may differ
 * @param reduction how elements are reduced, or null
 * @param root the root, or -1
 * @param peer the other rank of a message, or -1
 * @param tag the tag of a message, or -1
 * @param agreement in what else the calls of all ranks must agree
 * @param shapes of the tensors, for records
 */
public record BackendCall(
    OpType type,
    DType dtype,
    long inputCount,
    long outputCount,
    long agreedCount,
    ReduceOp reduction,
    int root,
    int peer,
    int tag,
    CallAgreement agreement,
    RecordedShapes shapes) {

  /** Refuses a call without a type, without an agreement, or without shapes. */
  public BackendCall {
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(agreement, "agreement");
    Objects.requireNonNull(shapes, "shapes");
  }

  /** A collective without reduction and root. */
  public static BackendCall collective(
      OpType type, DType dtype, long inputCount, long outputCount, long agreedCount) {
    return new BackendCall(
        type,
        dtype,
        inputCount,
        outputCount,
        agreedCount,
        null,
        -1,
        -1,
        -1,
        CallAgreement.onNothing(),
        RecordedShapes.ofCounts(inputCount, outputCount));
  }

  /** A message, {@link OpType#SEND} or {@link OpType#RECV}. */
  public static BackendCall message(OpType type, DType dtype, long count, int peer, int tag) {
    return new BackendCall(
        type,
        dtype,
        type == OpType.SEND ? count : 0,
        type == OpType.SEND ? 0 : count,
        0,
        null,
        -1,
        peer,
        tag,
        CallAgreement.onNothing(),
        type == OpType.SEND
            ? RecordedShapes.ofCounts(count, 0)
            : RecordedShapes.ofCounts(0, count));
  }

  /** The same with a reduction. */
  public BackendCall reducing(ReduceOp op) {
    return new BackendCall(
        type, dtype, inputCount, outputCount, agreedCount, op, root, peer, tag, agreement, shapes);
  }

  /** The same with a root. */
  public BackendCall rootedAt(int rank) {
    return new BackendCall(
        type,
        dtype,
        inputCount,
        outputCount,
        agreedCount,
        reduction,
        rank,
        peer,
        tag,
        agreement,
        shapes);
  }

  /** The same, in which the ranks must agree in this too. */
  public BackendCall agreeing(CallAgreement on) {
    return new BackendCall(
        type, dtype, inputCount, outputCount, agreedCount, reduction, root, peer, tag, on, shapes);
  }

  /** The same on tensors of these shapes. */
  public BackendCall shaped(RecordedShapes others) {
    return new BackendCall(
        type,
        dtype,
        inputCount,
        outputCount,
        agreedCount,
        reduction,
        root,
        peer,
        tag,
        agreement,
        others);
  }
}
