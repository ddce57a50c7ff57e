package org.sparkcollectives.internal.group;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.sparkcollectives.DType;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.NanCheck;
import org.sparkcollectives.spi.tensor.TensorView;

/**
 * Refuses arguments that are wrong on their own rank, before an operation takes a sequence number.
 */
final class Arguments extends CallChecks {

  /** The longest name of a checkpoint, which is a part of keys, whose length is bounded. */
  private static final int MAX_NAME_BYTES = 1024;

  Arguments(String group, int rank, int size) {
    super(group, rank, size);
  }

  void root(String operation, int root) {
    require(
        root >= 0 && root < size,
        operation,
        () -> "the root must be 0 to " + (size - 1) + ", not " + root);
  }

  void peer(String operation, int peer) {
    require(
        peer >= 0 && peer < size,
        operation,
        () -> "the peer must be 0 to " + (size - 1) + ", not " + peer);
    require(peer != rank, operation, "the peer is this very rank; copy the tensor instead");
  }

  void hasPeers(String operation) {
    require(size > 1, operation, "this rank is alone in the group");
  }

  void tag(String operation, int tag) {
    require(tag >= 0, operation, () -> "the tag must not be negative, but is " + tag);
  }

  void reducible(String operation, ReduceOp op, DType dtype) {
    Objects.requireNonNull(op, "op");
    require(op.supports(dtype), operation, () -> op + " is not defined for " + dtype.label());
  }

  void given(String operation, String name, Object argument) {
    require(argument != null, operation, () -> "the " + name + " is null");
  }

  void name(String operation, String name) {
    given(operation, "name", name);
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    require(
        length > 0 && length <= MAX_NAME_BYTES,
        operation,
        "the name must have 1 to " + MAX_NAME_BYTES + " bytes, not " + length);
  }

  TensorView tensor(String operation, String name, Tensor tensor) {
    require(tensor != null, operation, () -> "the " + name + " is null");
    try {
      return TensorView.of(tensor);
    } catch (IllegalArgumentException e) {
      throw refused(operation, name + ": " + e.getMessage());
    }
  }

  /** Returns a tensor that must lie in host memory. */
  HostTensor hostTensor(String operation, String name, Tensor tensor) {
    require(tensor != null, operation, () -> "the " + name + " is null");
    try {
      return HostTensor.of(tensor);
    } catch (IllegalArgumentException e) {
      throw refused(operation, name + ": " + e.getMessage());
    }
  }

  void checkNan(String operation, String name, HostTensor tensor) {
    long first = NanCheck.first(tensor);
    require(
        first < 0,
        operation,
        () ->
            "element "
                + first
                + " of the "
                + tensor.count()
                + " of the "
                + name
                + " is not a number (spark.collectives.nanCheck)");
  }

  List<TensorView> onePerRank(String operation, String name, List<Tensor> tensors) {
    require(tensors != null, operation, () -> "the list of " + name + " is null");
    require(
        tensors.size() == size,
        operation,
        () ->
            "the list of "
                + name
                + " must hold one tensor for each of "
                + size
                + " ranks, not "
                + tensors.size());
    return tensors.stream().map(each -> tensor(operation, name, each)).toList();
  }

  List<TensorView> tensors(String operation, String name, List<Tensor> tensors) {
    require(tensors != null && !tensors.isEmpty(), operation, "requires a non-empty tensor list");
    return tensors.stream().map(each -> tensor(operation, name, each)).toList();
  }

  /** Refuses what a broadcast of several tensors cannot be made of. */
  void coalesced(String operation, List<Tensor> tensors, long bufferBytes, int root) {
    tensors(operation, "tensors", tensors);
    root(operation, root);
    require(
        bufferBytes > 0,
        operation,
        () -> "the buffers must have 1 byte or more, not " + bufferBytes);
  }

  /** Returns one tensor for each rank at the root, and none elsewhere. */
  List<TensorView> atRootOnly(String operation, String name, List<Tensor> tensors, int root) {
    require(tensors != null, operation, () -> "the list of " + name + " is null");
    if (rank == root) {
      return onePerRank(operation, name, tensors);
    }
    require(
        tensors.isEmpty(),
        operation,
        () ->
            "the list of "
                + name
                + " must be empty on ranks other than the root "
                + root
                + ", but has "
                + tensors.size()
                + " tensors");
    return List.of();
  }

  void ownPartAtRoot(String operation, String name, List<? extends Tensor> parts, Tensor own) {
    if (!parts.isEmpty()) {
      ownPart(operation, name, parts, own);
    }
  }

  void equalParts(String operation, Tensor output, Tensor input) {
    require(
        output.count() == input.count(),
        operation,
        () ->
            "the output must have the "
                + input.count()
                + " elements of the input, not "
                + output.count());
    require(
        input.count() % size == 0,
        operation,
        () -> "the " + input.count() + " elements do not divide equally across " + size + " ranks");
  }

  /** Returns the parts of a tensor along its first dimension. */
  List<TensorView> split(String operation, String name, TensorView tensor, long[] splits) {
    long[] shape = tensor.shape();
    require(shape.length > 0, operation, () -> "the " + name + " has no dimension to split along");
    long rows = shape[0];
    long[] sizes =
        splits == null || splits.length == 0 ? equalSplits(operation, name, rows) : splits;
    require(
        sizes.length == size,
        operation,
        () ->
            "the number of "
                + name
                + " splits, "
                + sizes.length
                + ", is not the group's size "
                + size);
    for (long each : sizes) {
      require(each >= 0, operation, () -> "an " + name + " split is negative: " + each);
    }
    long sum = Arrays.stream(sizes).sum();
    require(
        sum == rows,
        operation,
        () ->
            "the "
                + name
                + " splits "
                + Arrays.toString(sizes)
                + " add up to "
                + sum
                + ", not to the first dimension "
                + rows);
    long row = rows == 0 ? 0 : tensor.count() / rows;
    List<TensorView> parts = new ArrayList<>();
    long offset = 0;
    for (long each : sizes) {
      parts.add(tensor.slice(offset * row, each * row));
      offset += each;
    }
    return parts;
  }

  private long[] equalSplits(String operation, String name, long rows) {
    require(
        rows % size == 0,
        operation,
        () ->
            "the first dimension of the "
                + name
                + ", "
                + rows
                + ", does not divide equally across "
                + size
                + " ranks");
    long[] sizes = new long[size];
    Arrays.fill(sizes, rows / size);
    return sizes;
  }

  /**
   * Refuses a rank's own part that overlaps the parts of all, unless it is its own part among them.
   */
  void apartOrInPlace(String operation, List<TensorView> parts, TensorView own) {
    for (int each = 0; each < parts.size(); each++) {
      TensorView part = parts.get(each);
      require(
          !part.overlaps(own) || (each == rank && part.isSameMemoryAs(own)),
          operation,
          () ->
              "output and input share memory; in place, what belongs to this rank alone must be its own"
                  + " part "
                  + rank
                  + " of what belongs to all");
    }
  }

  /**
   * Refuses a rank's own part that overlaps the parts of all, which are equal and lie in one
   * tensor, unless it is its own part among them.
   */
  void apartOrInPlace(String operation, TensorView all, TensorView own) {
    List<TensorView> parts = new ArrayList<>();
    for (int each = 0; each < size; each++) {
      parts.add(all.slice(each * own.count(), own.count()));
    }
    apartOrInPlace(operation, parts, own);
  }

  /** Refuses outputs that overlap inputs. */
  void apart(String operation, List<TensorView> outputs, List<TensorView> inputs) {
    for (TensorView output : outputs) {
      for (TensorView input : inputs) {
        require(!output.overlaps(input), operation, "output and input must not share their memory");
      }
    }
  }

  void batch(List<P2POp> operations) {
    require(
        operations != null && !operations.isEmpty(), "batch", "requires at least one operation");
    for (P2POp each : operations) {
      given("batch", "operation", each);
      tensor("batch", each.type().label() + "'s tensor", each.tensor());
      peer("batch", each.peer());
      tag("batch", each.tag());
    }
  }

  /** Refuses tensors of different types, or on different devices. */
  void sameType(String operation, Tensor output, Tensor input) {
    require(
        output.device().equals(input.device()),
        operation,
        () ->
            "the output is in the memory of "
                + output.device()
                + " and the input in that of "
                + input.device()
                + "; they must be in the same");
    require(
        output.dtype() == input.dtype(),
        operation,
        () ->
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

  /** Refuses a whole that does not hold one part for each rank. */
  void partForEachRank(String operation, String whole, Tensor all, String part, Tensor one) {
    require(
        all.count() == one.count() * size,
        operation,
        () ->
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
        () ->
            "element "
                + rank
                + " of the list of "
                + name
                + " is this rank's part and must have "
                + own.count()
                + " elements, not "
                + parts.get(rank).count());
  }
}
