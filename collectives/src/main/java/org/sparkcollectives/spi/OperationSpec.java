package org.sparkcollectives.spi;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;

/**
 * Describes one call of an operation by one rank. Errors, flight records, the headers on the wire
 * and the comparison of calls at {@link org.sparkcollectives.DebugLevel#DETAIL} are all derived
 * from it.
 *
 * <p>There is a factory for each method of {@link org.sparkcollectives.ProcessGroup} that begins an
 * operation. The arguments must have been checked. A spec keeps the shapes of the tensors and not
 * the tensors, because flight records outlive them. Immutable.
 */
public final class OperationSpec {

  /** The root, peer or tag of an operation that has none. */
  public static final int NONE = -1;

  /**
   * The number of tensors up to which a flight record keeps the shape of each. In a large group the
   * record of a longer list would take more memory than the operation.
   */
  static final int MOST_RECORDED_SHAPES = 64;

  private final OpType type;
  private final DType dtype;
  private final Device.Type device;
  private final TensorShapes inputs;
  private final TensorShapes outputs;
  private final TensorShapes agreed;
  private final ReduceOp reduction;
  private final int root;
  private final int peer;
  private final int tag;

  OperationSpec(OperationDraft draft) {
    this.type = draft.type;
    this.dtype = draft.dtype;
    this.device = draft.device;
    this.inputs = draft.inputs;
    this.outputs = draft.outputs;
    this.agreed = draft.agreed;
    this.reduction = draft.reduction;
    this.root = draft.root;
    this.peer = draft.peer;
    this.tag = draft.tag;
  }

  /** Copies a spec for a record, which is compared with no other rank's. */
  private OperationSpec(OperationSpec other, TensorShapes inputs, TensorShapes outputs) {
    this.type = other.type;
    this.dtype = other.dtype;
    this.device = other.device;
    this.inputs = inputs;
    this.outputs = outputs;
    this.agreed = TensorShapes.NONE;
    this.reduction = other.reduction;
    this.root = other.root;
    this.peer = other.peer;
    this.tag = other.tag;
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#broadcast(Tensor, int)}. */
  public static OperationSpec broadcast(Tensor tensor, int root) {
    return new OperationDraft(OpType.BROADCAST).inPlace(tensor).root(root).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#allReduce(Tensor, ReduceOp)}. */
  public static OperationSpec allReduce(Tensor tensor, ReduceOp op) {
    return new OperationDraft(OpType.ALL_REDUCE).inPlace(tensor).reduction(op).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#allReduce(SparseTensor)}. */
  public static OperationSpec allReduce(SparseTensor tensor) {
    return new OperationDraft(OpType.ALL_REDUCE_SPARSE)
        .input(tensor.values())
        .agreeOnSparse(tensor.shape())
        .reduction(ReduceOp.SUM)
        .spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#allReduceCoalesced(List, ReduceOp)}. */
  public static OperationSpec allReduceCoalesced(List<? extends Tensor> tensors, ReduceOp op) {
    return new OperationDraft(OpType.ALL_REDUCE_COALESCED).inPlace(tensors).reduction(op).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#reduce(Tensor, ReduceOp, int)}. */
  public static OperationSpec reduce(Tensor tensor, ReduceOp op, int root) {
    return new OperationDraft(OpType.REDUCE).inPlace(tensor).reduction(op).root(root).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#allGather(Tensor, Tensor)}. */
  public static OperationSpec allGather(Tensor output, Tensor input) {
    return new OperationDraft(OpType.ALL_GATHER_INTO)
        .input(input)
        .output(output)
        .agreeOnInputs()
        .spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#allGather(List, Tensor)}. */
  public static OperationSpec allGather(List<? extends Tensor> outputs, Tensor input) {
    return new OperationDraft(OpType.ALL_GATHER)
        .input(input)
        .outputs(outputs)
        .agreeOnOutputs()
        .spec();
  }

  /**
   * Describes {@link org.sparkcollectives.ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}.
   */
  public static OperationSpec reduceScatter(Tensor output, Tensor input, ReduceOp op) {
    return new OperationDraft(OpType.REDUCE_SCATTER_INTO)
        .input(input)
        .output(output)
        .agreeOnOutputs()
        .reduction(op)
        .spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#reduceScatter(Tensor, List, ReduceOp)}. */
  public static OperationSpec reduceScatter(
      Tensor output, List<? extends Tensor> inputs, ReduceOp op) {
    return new OperationDraft(OpType.REDUCE_SCATTER)
        .inputs(inputs)
        .output(output)
        .agreeOnInputs()
        .reduction(op)
        .spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#gather(List, Tensor, int)}. */
  public static OperationSpec gather(List<? extends Tensor> outputs, Tensor input, int root) {
    return new OperationDraft(OpType.GATHER).outputs(outputs).input(input).root(root).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#scatter(Tensor, List, int)}. */
  public static OperationSpec scatter(Tensor output, List<? extends Tensor> inputs, int root) {
    return new OperationDraft(OpType.SCATTER).inputs(inputs).output(output).root(root).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#allToAll(Tensor, Tensor)}. */
  public static OperationSpec allToAll(Tensor output, Tensor input) {
    return new OperationDraft(OpType.ALL_TO_ALL_INTO)
        .input(input)
        .output(output)
        .agreeOnInputs()
        .spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#allToAll(List, List)}. */
  public static OperationSpec allToAll(
      List<? extends Tensor> outputs, List<? extends Tensor> inputs) {
    return new OperationDraft(OpType.ALL_TO_ALL).outputs(outputs).inputs(inputs).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#barrier()}. */
  public static OperationSpec barrier() {
    return new OperationDraft(OpType.BARRIER).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#send(Tensor, int, int)}. */
  public static OperationSpec send(Tensor tensor, int destination, int tag) {
    return new OperationDraft(OpType.SEND).input(tensor).message(destination, tag).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#recv(Tensor, int, int)}. */
  public static OperationSpec recv(Tensor tensor, int source, int tag) {
    return new OperationDraft(OpType.RECV).output(tensor).message(source, tag).spec();
  }

  /** Describes {@link org.sparkcollectives.ProcessGroup#recvAny(Tensor, int)}. */
  public static OperationSpec recvAny(Tensor tensor, int tag) {
    return new OperationDraft(OpType.RECV_ANY).output(tensor).message(NONE, tag).spec();
  }

  /** Returns the operation. */
  public OpType type() {
    return type;
  }

  /** Returns the type of the elements; null of a barrier. */
  public DType dtype() {
    return dtype;
  }

  /** Returns the number of elements given. */
  public long inputCount() {
    return inputs.total();
  }

  /** Returns the number of elements expected. */
  public long outputCount() {
    return outputs.total();
  }

  /** Returns the shape of each tensor given. */
  public List<List<Long>> inputShapes() {
    return inputs.asLists();
  }

  /** Returns the shape of each tensor expected. */
  public List<List<Long>> outputShapes() {
    return outputs.asLists();
  }

  /** Returns how elements are reduced, or null. */
  public ReduceOp reduction() {
    return reduction;
  }

  /** Returns the root, or {@link #NONE}. */
  public int root() {
    return root;
  }

  /**
   * Returns the other rank of a message; {@link #NONE} of a collective, and of a receive from any
   * rank.
   */
  public int peer() {
    return peer;
  }

  /** Returns the tag of a message, or {@link #NONE}. */
  public int tag() {
    return tag;
  }

  /** Returns the number of elements on which all ranks must agree; 0 where it may differ. */
  public long agreedCount() {
    return switch (type) {
      case BROADCAST,
          ALL_REDUCE,
          ALL_REDUCE_COALESCED,
          REDUCE,
          REDUCE_SCATTER,
          REDUCE_SCATTER_INTO ->
          inputs.total();
      case ALL_GATHER, ALL_GATHER_INTO, ALL_TO_ALL_INTO -> outputs.total();
      default -> 0;
    };
  }

  /**
   * Returns a digest of the counts of a list of tensors that all ranks must give alike; 0 where the
   * operation has no such list.
   */
  public int sizesDigest() {
    return switch (type) {
      case ALL_REDUCE_COALESCED, ALL_GATHER, REDUCE_SCATTER -> {
        int digest = Arrays.hashCode(agreed.counts());
        yield digest == 0 ? 1 : digest;
      }
      default -> 0;
    };
  }

  /** Returns how many elements go to each rank; empty where they follow from the agreed shapes. */
  public long[] sends(int ranks) {
    return switch (type) {
      case GATHER -> oneCount(ranks, root, inputs.total());
      case SCATTER, ALL_TO_ALL -> inputs.size() == 0 ? new long[ranks] : inputs.counts();
      default -> new long[0];
    };
  }

  /** Returns how many elements come from each rank; empty where {@link #sends} is. */
  public long[] receives(int ranks) {
    return switch (type) {
      case SCATTER -> oneCount(ranks, root, outputs.total());
      case GATHER, ALL_TO_ALL -> outputs.size() == 0 ? new long[ranks] : outputs.counts();
      default -> new long[0];
    };
  }

  /** Returns the call as exceptions show it, in which the calls of all ranks must be equal. */
  public CollectiveCall call(int rank, long sequenceNumber) {
    return new CollectiveCall(
        rank,
        type,
        sequenceNumber,
        new CollectiveCall.Tensors(
            dtype, agreedCount() > 0 ? agreedCount() : -1, agreed.asLists(), device),
        reduction == null ? null : reduction.kind(),
        root);
  }

  /**
   * Returns this spec for a flight record: of a list of more than {@value #MOST_RECORDED_SHAPES}
   * tensors it keeps the sum of their counts alone.
   */
  public OperationSpec forRecord() {
    TensorShapes fewInputs = inputs.atMost(MOST_RECORDED_SHAPES);
    TensorShapes fewOutputs = outputs.atMost(MOST_RECORDED_SHAPES);
    return fewInputs == inputs && fewOutputs == outputs
        ? this
        : new OperationSpec(this, fewInputs, fewOutputs);
  }

  /** Returns the reduction, root, peer and tag in words, as far as the operation has them. */
  public String details() {
    StringBuilder text = new StringBuilder();
    if (reduction != null) {
      text.append(reduction);
    }
    if (root != NONE) {
      text.append(text.isEmpty() ? "" : ", ").append("root ").append(root);
    }
    if (type.isPointToPoint()) {
      text.append(type == OpType.SEND ? "to " : "from ")
          .append(peer == NONE ? "any rank" : "rank " + peer);
      if (tag != NONE) {
        text.append(", tag ").append(tag);
      }
    }
    return text.toString();
  }

  /**
   * Returns the operation with its number, such as {@code all-reduce #7 (float32 x 1,024, SUM)}.
   */
  public String describe(long sequenceNumber) {
    return describe(type.label() + " #" + sequenceNumber);
  }

  /**
   * Returns the operation before it has a number, such as {@code all-reduce (float32 x 8, SUM)}.
   */
  public String describe() {
    return describe(type.label());
  }

  private String describe(String operation) {
    String details = details();
    StringBuilder text = new StringBuilder(operation);
    if (dtype == null) {
      return details.isEmpty() ? text.toString() : text + " (" + details + ")";
    }
    text.append(" (")
        .append(dtype.label())
        .append(" x ")
        .append(String.format(Locale.ROOT, "%,d", Math.max(inputs.total(), outputs.total())));
    if (!details.isEmpty()) {
      text.append(", ").append(details);
    }
    return text.append(')').toString();
  }

  @Override
  public String toString() {
    return type.label() + (details().isEmpty() ? "" : " (" + details() + ")");
  }

  private static long[] oneCount(int ranks, int rank, long count) {
    long[] counts = new long[ranks];
    counts[rank] = count;
    return counts;
  }
}
