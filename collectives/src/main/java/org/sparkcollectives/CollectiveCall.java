package org.sparkcollectives;

import java.io.Serializable;
import java.util.List;
import java.util.Locale;

/**
 * A call of one rank, as far as other ranks know it: see {@link CollectiveMismatchException}.
 *
 * @param rank the group rank that called it
 * @param operation the operation
 * @param sequenceNumber the operation's number among the group's collectives, or -1
 * @param tensors what it says of its tensors
 * @param reduction the reduction, or null
 * @param root the root, or -1
 */
public record CollectiveCall(
    int rank,
    OpType operation,
    long sequenceNumber,
    Tensors tensors,
    ReduceOp.Kind reduction,
    int root)
    implements Serializable {

  /**
   * The tensors of a call, as far as the ranks must agree on them.
   *
   * @param dtype the type of the elements; null where the operation has none
   * @param count the number of elements on which the ranks must agree; -1 where it may differ, or
   *     is not known
   * @param shapes the shapes of the tensors on which the ranks must agree; empty where they may
   *     differ, or are not known, as without {@link DebugLevel#DETAIL}
   * @param device where the tensors lie
   */
  public record Tensors(DType dtype, long count, List<List<Long>> shapes, Device.Type device)
      implements Serializable {

    public Tensors {
      shapes = shapes.stream().map(List::copyOf).toList();
    }
  }

  /** Returns the type of the elements; null where the operation has none. */
  public DType dtype() {
    return tensors.dtype();
  }

  /** Returns the number of elements, see {@link Tensors#count}. */
  public long count() {
    return tensors.count();
  }

  /** Returns the shapes of the tensors, see {@link Tensors#shapes}. */
  public List<List<Long>> shapes() {
    return tensors.shapes();
  }

  /** Returns where the tensors lie. */
  public Device.Type device() {
    return tensors.device();
  }

  /** Returns the same call of another rank. */
  public CollectiveCall by(int otherRank) {
    return new CollectiveCall(otherRank, operation, sequenceNumber, tensors, reduction, root);
  }

  /** Returns the same call with another number of elements. */
  public CollectiveCall withCount(long elements) {
    Tensors others = new Tensors(dtype(), elements, shapes(), device());
    return new CollectiveCall(rank, operation, sequenceNumber, others, reduction, root);
  }

  /**
   * Returns the call in one line without its rank, such as {@code all-reduce #7 of float32 [4],
   * SUM}.
   */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(operation.label());
    if (sequenceNumber >= 0) {
      text.append(" #").append(sequenceNumber);
    }
    if (dtype() != null) {
      text.append(" of ").append(dtype().label());
    }
    shapes().forEach(shape -> text.append(' ').append(shape));
    if (shapes().isEmpty() && dtype() != null && count() >= 0) {
      text.append(" x ").append(count());
    }
    if (device() != Device.Type.CPU) {
      text.append(" on ").append(device().name().toLowerCase(Locale.ROOT));
    }
    if (reduction != null) {
      // Leaves out the factor of PREMUL_SUM, which each rank may choose.
      text.append(", ").append(reduction);
    }
    if (root >= 0) {
      text.append(", root ").append(root);
    }
    return text.toString();
  }
}
