package org.sparkcollectives.internal.algorithm;

import java.util.List;
import java.util.Optional;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A call of a collective by one rank.
 *
 * @param <C> the kind of call
 */
public interface Call<C extends Call<C>> {

  /** Returns a call that reduces {@code tensor} over all ranks, in place. */
  static AllReduce allReduce(HostTensor tensor, ReduceOp op) {
    return new AllReduce(tensor, ReduceKernels.of(op, tensor.dtype()));
  }

  /** Returns a call that reduces {@code tensor} in place at the root; elsewhere it is only read. */
  static Reduce reduce(HostTensor tensor, ReduceOp op, int root) {
    return new Reduce(tensor, root, ReduceKernels.of(op, tensor.dtype()));
  }

  /**
   * Returns a call that reduces equal parts of {@code input}, one to each of {@code size} ranks.
   */
  static ReduceScatter reduceScatter(HostTensor output, HostTensor input, ReduceOp op, int size) {
    return reduceScatter(output, Chunks.equal(input, size), op);
  }

  /** Returns a call that reduces {@code inputs}, one to each rank; they may differ in size. */
  static ReduceScatter reduceScatter(HostTensor output, List<HostTensor> inputs, ReduceOp op) {
    return reduceScatter(output, Chunks.ofParts(inputs), op);
  }

  private static ReduceScatter reduceScatter(HostTensor output, Chunks input, ReduceOp op) {
    return new ReduceScatter(output, input, ReduceKernels.of(op, output.dtype()));
  }

  /** Returns a call that gathers inputs of equal size, of {@code size} ranks. */
  static AllGather allGather(HostTensor output, HostTensor input, int size) {
    return new AllGather(Chunks.equal(output, size), input);
  }

  /** Returns a call that gathers inputs that may differ in size. */
  static AllGather allGather(List<HostTensor> outputs, HostTensor input) {
    return new AllGather(Chunks.ofParts(outputs), input);
  }

  /** Returns a call that sends each of {@code size} ranks an equal part. */
  static AllToAll allToAll(HostTensor output, HostTensor input, int size) {
    return new AllToAll(Chunks.equal(output, size), Chunks.equal(input, size), true);
  }

  /** Returns a call that sends each rank its part; parts may differ in size. */
  static AllToAll allToAll(List<HostTensor> outputs, List<HostTensor> inputs) {
    return new AllToAll(Chunks.ofParts(outputs), Chunks.ofParts(inputs), false);
  }

  /** Returns the collective; where one type is for equal sizes and one for any, the latter. */
  OpType type();

  /** Returns what all ranks know of it, by which they choose alike. */
  Shape shape();

  /** Returns the tensors that this rank publishes where all ranks see each other's. */
  List<HostTensor> published(Peers peers);

  /**
   * Returns the {@code index}-th of {@code count} pieces, into which every part is cut; of a call
   * of which all ranks know all sizes.
   */
  default C piece(int index, int count) {
    throw new UnsupportedOperationException(this + " cannot be cut");
  }

  /** Returns the root, or {@link Hierarchy#NO_ROOT}. */
  default int root() {
    return Hierarchy.NO_ROOT;
  }

  /**
   * Returns the same call of ranks that are numbered anew, with the root first; empty if it gains
   * nothing by another order.
   *
   * @param ranks which each of them is here
   */
  default Optional<C> inOrder(int[] ranks) {
    return Optional.empty();
  }

  /**
   * Reduces a contribution of each rank to the same result on all.
   *
   * @param tensor gets the result
   * @param contribution may be changed; {@code tensor} itself where the reduction is in place
   */
  record AllReduce(HostTensor tensor, HostTensor contribution, ReduceKernel kernel)
      implements Call<AllReduce> {

    /** Creates a call that reduces {@code tensor} in place. */
    AllReduce(HostTensor tensor, ReduceKernel kernel) {
      this(tensor, tensor, kernel);
    }

    /** Returns whether the result replaces the contribution. */
    boolean isInPlace() {
      return tensor == contribution;
    }

    /** Returns whether the contribution becomes first the sum and then the result. */
    boolean addsUpInResult() {
      return isInPlace() && kernel.reducesInPlace();
    }

    @Override
    public OpType type() {
      return OpType.ALL_REDUCE;
    }

    @Override
    public Shape shape() {
      return Shape.ofReduction(contribution.byteSize(), kernel);
    }

    @Override
    public Optional<AllReduce> inOrder(int[] ranks) {
      return Optional.of(this);
    }

    @Override
    public List<HostTensor> published(Peers peers) {
      // Of calls whose contribution lies elsewhere nothing is published: they go between nodes.
      return List.of(tensor);
    }

    @Override
    public AllReduce piece(int index, int count) {
      HostTensor piece = Chunks.part(tensor, index, count);
      return isInPlace()
          ? new AllReduce(piece, kernel)
          : new AllReduce(piece, Chunks.part(contribution, index, count), kernel);
    }
  }

  /** Reduces {@code tensor} in place at the root; elsewhere it is only read. */
  record Reduce(HostTensor tensor, int root, ReduceKernel kernel) implements Call<Reduce> {

    @Override
    public OpType type() {
      return OpType.REDUCE;
    }

    @Override
    public Shape shape() {
      return Shape.ofReduction(tensor.byteSize(), kernel);
    }

    @Override
    public Optional<Reduce> inOrder(int[] ranks) {
      return Optional.of(new Reduce(tensor, 0, kernel));
    }

    @Override
    public List<HostTensor> published(Peers peers) {
      return SharedReduce.published(
          peers, tensor, root, count -> HostTensor.allocate(tensor.dtype(), count));
    }

    @Override
    public Reduce piece(int index, int count) {
      return new Reduce(Chunks.part(tensor, index, count), root, kernel);
    }
  }

  /** Reduces the parts of {@code input}, one to each rank; they may differ in size. */
  record ReduceScatter(HostTensor output, Chunks input, ReduceKernel kernel)
      implements Call<ReduceScatter> {

    @Override
    public OpType type() {
      return OpType.REDUCE_SCATTER;
    }

    @Override
    public Shape shape() {
      return Shape.ofReduction(input.bytes(), kernel);
    }

    @Override
    public Optional<ReduceScatter> inOrder(int[] ranks) {
      return Optional.of(new ReduceScatter(output, input.inOrder(ranks), kernel));
    }

    @Override
    public List<HostTensor> published(Peers peers) {
      return input.all();
    }

    @Override
    public ReduceScatter piece(int index, int count) {
      return new ReduceScatter(
          Chunks.part(output, index, count), input.pieces(index, count), kernel);
    }
  }

  /** Gathers the {@code input} of all ranks on all; inputs may differ in size. */
  record AllGather(Chunks outputs, HostTensor input) implements Call<AllGather> {

    @Override
    public OpType type() {
      return OpType.ALL_GATHER;
    }

    @Override
    public Shape shape() {
      return Shape.ofParts(outputs.bytes(), outputs.areEqual());
    }

    @Override
    public Optional<AllGather> inOrder(int[] ranks) {
      return Optional.of(new AllGather(outputs.inOrder(ranks), input));
    }

    @Override
    public List<HostTensor> published(Peers peers) {
      return List.of(input);
    }

    @Override
    public AllGather piece(int index, int count) {
      return new AllGather(outputs.pieces(index, count), Chunks.part(input, index, count));
    }
  }

  /** Sends the root's tensor to all. */
  record Broadcast(HostTensor tensor, int root) implements Call<Broadcast> {

    @Override
    public OpType type() {
      return OpType.BROADCAST;
    }

    @Override
    public Shape shape() {
      return Shape.ofParts(tensor.byteSize(), true);
    }

    @Override
    public Optional<Broadcast> inOrder(int[] ranks) {
      return Optional.of(new Broadcast(tensor, 0));
    }

    @Override
    public List<HostTensor> published(Peers peers) {
      return peers.rank() == root ? List.of(tensor) : List.of();
    }

    @Override
    public Broadcast piece(int index, int count) {
      return new Broadcast(Chunks.part(tensor, index, count), root);
    }
  }

  /** Gathers inputs, which may differ in size, at the root; elsewhere {@code outputs} are empty. */
  record Gather(List<HostTensor> outputs, HostTensor input, int root) implements Call<Gather> {

    @Override
    public OpType type() {
      return OpType.GATHER;
    }

    @Override
    public Shape shape() {
      return Shape.ofUnknown(input.byteSize());
    }

    @Override
    public List<HostTensor> published(Peers peers) {
      return List.of(input);
    }
  }

  /** Scatters the root's inputs, which may differ in size and are empty elsewhere. */
  record Scatter(HostTensor output, List<HostTensor> inputs, int root) implements Call<Scatter> {

    @Override
    public OpType type() {
      return OpType.SCATTER;
    }

    @Override
    public Shape shape() {
      return Shape.ofUnknown(output.byteSize());
    }

    @Override
    public List<HostTensor> published(Peers peers) {
      return inputs;
    }
  }

  /**
   * Sends each rank its part.
   *
   * @param equal whether all parts of all ranks have one size; else a rank knows only its own sizes
   */
  record AllToAll(Chunks outputs, Chunks inputs, boolean equal) implements Call<AllToAll> {

    @Override
    public OpType type() {
      return OpType.ALL_TO_ALL;
    }

    @Override
    public Shape shape() {
      return equal ? Shape.ofParts(inputs.bytes(), true) : Shape.ofUnknown(inputs.bytes());
    }

    @Override
    public List<HostTensor> published(Peers peers) {
      return inputs.all();
    }

    @Override
    public AllToAll piece(int index, int count) {
      return new AllToAll(outputs.pieces(index, count), inputs.pieces(index, count), equal);
    }
  }

  /** Returns when all ranks have called it. */
  record Barrier() implements Call<Barrier> {

    @Override
    public OpType type() {
      return OpType.BARRIER;
    }

    @Override
    public Shape shape() {
      return Shape.ofParts(0, true);
    }

    @Override
    public Optional<Barrier> inOrder(int[] ranks) {
      return Optional.of(this);
    }

    @Override
    public List<HostTensor> published(Peers peers) {
      return List.of();
    }
  }
}
