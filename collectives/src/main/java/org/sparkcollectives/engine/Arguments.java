package org.sparkcollectives.engine;

import java.util.List;
import java.util.Objects;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.tensor.HostTensor;

/**
 * Refuses arguments that are wrong on their own rank, before an operation takes a sequence number.
 */
final class Arguments {

  private final String group;
  private final int rank;
  private final int size;

  Arguments(String group, int rank, int size) {
    this.group = group;
    this.rank = rank;
    this.size = size;
  }

  void root(String operation, int root) {
    require(
        root >= 0 && root < size,
        operation,
        "the root must be 0 to " + (size - 1) + ", not " + root);
  }

  void peer(String operation, int peer) {
    require(
        peer >= 0 && peer < size,
        operation,
        "the peer must be 0 to " + (size - 1) + ", not " + peer);
    require(peer != rank, operation, "the peer is this very rank; copy the tensor instead");
  }

  void hasPeers(String operation) {
    require(size > 1, operation, "this rank is alone in the group");
  }

  void tag(String operation, int tag) {
    require(tag >= 0, operation, "the tag must not be negative, but is " + tag);
  }

  void reducible(String operation, ReduceOp op, DType dtype) {
    Objects.requireNonNull(op, "op");
    require(op.supports(dtype), operation, op + " is not defined for " + dtype.label());
  }

  HostTensor tensor(String operation, String name, Tensor tensor) {
    require(tensor != null, operation, "the " + name + " is null");
    try {
      return HostTensor.of(tensor);
    } catch (IllegalArgumentException e) {
      throw refused(operation, name + ": " + e.getMessage());
    }
  }

  List<HostTensor> onePerRank(String operation, String name, List<Tensor> tensors) {
    require(tensors != null, operation, "the list of " + name + " is null");
    require(
        tensors.size() == size,
        operation,
        "the list of "
            + name
            + " must hold one tensor for each of "
            + size
            + " ranks, not "
            + tensors.size());
    return tensors.stream().map(each -> tensor(operation, name, each)).toList();
  }

  void sameType(String operation, Tensor output, Tensor input) {
    require(
        output.dtype() == input.dtype(),
        operation,
        "the output is "
            + output.dtype().label()
            + " and the input "
            + input.dtype().label()
            + "; they must be alike");
  }

  void sameTypes(String operation, List<? extends Tensor> many, Tensor one) {
    for (Tensor each : many) {
      sameType(operation, each, one);
    }
  }

  /** One tensor holds a part for each rank, the other is one part. */
  void partForEachRank(String operation, String whole, Tensor all, String part, Tensor one) {
    require(
        all.count() == one.count() * size,
        operation,
        "the "
            + whole
            + " must have "
            + size
            + " times the elements of the "
            + part
            + ", that is "
            + one.count() * size
            + ", not "
            + all.count());
  }

  void ownPart(String operation, String name, List<? extends Tensor> parts, Tensor own) {
    require(
        parts.get(rank).count() == own.count(),
        operation,
        "element "
            + rank
            + " of the list of "
            + name
            + " is this rank's part and must have "
            + own.count()
            + " elements, not "
            + parts.get(rank).count());
  }

  private void require(boolean holds, String operation, String what) {
    if (!holds) {
      throw refused(operation, what);
    }
  }

  private IllegalArgumentException refused(String operation, String what) {
    return new IllegalArgumentException(
        operation + " of group \"" + group + "\" on rank " + rank + " of " + size + ": " + what);
  }
}
