package org.sparkcollectives.spi;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.DType;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.OpType;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * Carries out the operations of one group on one kind of device. Implement it for another transport
 * or library.
 *
 * <p>A {@link ProcessGroup} checks the arguments of an operation before it calls its backend:
 * counts, types, ranks and lists fit, and the tensors lie on the backend's device. Each operation
 * returns at once; {@code timeout} bounds it from the call on.
 */
public interface Backend extends AutoCloseable {

  /** Returns the name under which users ask for this backend, such as {@code netty}. */
  String name();

  /**
   * Returns this backend for the operations of one longer call, such as the frames of an object.
   * Each of these operations gets as its timeout what is left of the call's time; errors should
   * state the time of the whole call, which the user knows.
   *
   * @param callTimeout what the user has set for the whole call
   */
  default Backend withinCall(Duration callTimeout) {
    return this;
  }

  /** Carries out {@link ProcessGroup#broadcast}. */
  Work broadcast(Tensor tensor, int root, Duration timeout);

  /** Carries out {@link ProcessGroup#allReduce}. */
  Work allReduce(Tensor tensor, ReduceOp op, Duration timeout);

  /** Carries out {@link ProcessGroup#allReduce(SparseTensor)}. */
  Work allReduce(SparseTensor tensor, Duration timeout);

  /** Carries out {@link ProcessGroup#allReduceCoalesced}. */
  Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op, Duration timeout);

  /** Carries out {@link ProcessGroup#reduce}. */
  Work reduce(Tensor tensor, ReduceOp op, int root, Duration timeout);

  /** Carries out {@link ProcessGroup#allGather(Tensor, Tensor)}. */
  Work allGather(Tensor output, Tensor input, Duration timeout);

  /** Carries out {@link ProcessGroup#allGather(List, Tensor)}. */
  Work allGather(List<Tensor> outputs, Tensor input, Duration timeout);

  /** Carries out {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}. */
  Work reduceScatter(Tensor output, Tensor input, ReduceOp op, Duration timeout);

  /** Carries out {@link ProcessGroup#reduceScatter(Tensor, List, ReduceOp)}. */
  Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout);

  /** Carries out {@link ProcessGroup#gather}. */
  Work gather(List<Tensor> outputs, Tensor input, int root, Duration timeout);

  /** Carries out {@link ProcessGroup#scatter}. */
  Work scatter(Tensor output, List<Tensor> inputs, int root, Duration timeout);

  /**
   * Carries out {@link ProcessGroup#allToAll(Tensor, Tensor)}. All ranks know that the parts are
   * equal in count.
   */
  Work allToAll(Tensor output, Tensor input, Duration timeout);

  /**
   * Carries out {@link ProcessGroup#allToAll(List, List)}. The parts are those of one or of several
   * tensors.
   */
  Work allToAll(List<Tensor> outputs, List<Tensor> inputs, Duration timeout);

  /** Carries out {@link ProcessGroup#barrier}. */
  Work barrier(Duration timeout);

  /**
   * Prepares {@link ProcessGroup#allReduceInit}, whose arguments have been checked. Each start
   * makes the plain call, unless a backend can prepare more; so do those of the other methods here.
   *
   * @param timeout of each start
   */
  default PreparedCollective prepareAllReduce(Tensor tensor, ReduceOp op, Duration timeout) {
    return () -> allReduce(tensor, op, timeout);
  }

  /** Prepares {@link ProcessGroup#broadcastInit}. */
  default PreparedCollective prepareBroadcast(Tensor tensor, int root, Duration timeout) {
    return () -> broadcast(tensor, root, timeout);
  }

  /** Prepares {@link ProcessGroup#allGatherInit(Tensor, Tensor)}. */
  default PreparedCollective prepareAllGather(Tensor output, Tensor input, Duration timeout) {
    return () -> allGather(output, input, timeout);
  }

  /** Prepares {@link ProcessGroup#allGatherInit(List, Tensor)}. */
  default PreparedCollective prepareAllGather(
      List<Tensor> outputs, Tensor input, Duration timeout) {
    return () -> allGather(outputs, input, timeout);
  }

  /** Prepares {@link ProcessGroup#reduceScatterInit(Tensor, Tensor, ReduceOp)}. */
  default PreparedCollective prepareReduceScatter(
      Tensor output, Tensor input, ReduceOp op, Duration timeout) {
    return () -> reduceScatter(output, input, op, timeout);
  }

  /** Prepares {@link ProcessGroup#reduceScatterInit(Tensor, List, ReduceOp)}. */
  default PreparedCollective prepareReduceScatter(
      Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout) {
    return () -> reduceScatter(output, inputs, op, timeout);
  }

  /** Prepares {@link ProcessGroup#gatherInit}. */
  default PreparedCollective prepareGather(
      List<Tensor> outputs, Tensor input, int root, Duration timeout) {
    return () -> gather(outputs, input, root, timeout);
  }

  /** Carries out {@link ProcessGroup#send}. */
  Work send(Tensor tensor, int destination, int tag, Duration timeout);

  /** Carries out {@link ProcessGroup#recv}. */
  Work recv(Tensor tensor, int source, int tag, Duration timeout);

  /** Carries out {@link ProcessGroup#recvAny}. */
  Work recvAny(Tensor tensor, int tag, Duration timeout);

  /** Carries out {@link ProcessGroup#batch}. All tensors lie on the backend's device. */
  default List<Work> batch(List<P2POp> operations, Duration timeout) {
    return operations.stream()
        .map(
            each ->
                each.type() == OpType.SEND
                    ? send(each.tensor(), each.peer(), each.tag(), timeout)
                    : recv(each.tensor(), each.peer(), each.tag(), timeout))
        .toList();
  }

  /**
   * Returns the collectives of objects of a backend that has its own, as a backend without other
   * ranks does; empty where the group carries them out by operations on tensors.
   */
  default Optional<ObjectCollectives> objects() {
    return Optional.empty();
  }

  /**
   * Begins a block of operations, see {@link ProcessGroup#coalesce}. A backend may hold back what
   * the calling thread begins in the block, and begin all of it at once when the block ends.
   *
   * @return ends the block; run once, by any thread
   */
  default Runnable beginCoalescing() {
    return () -> {};
  }

  /**
   * Takes part, on a rank that is in none of them, when ranks of this backend's group make groups
   * of their own, all at once. For backends in which all ranks take part in that, see {@link
   * BackendOrigin}.
   */
  default void takePartInSplit(Duration timeout) {}

  /**
   * Carries out {@link ProcessGroup#setNanCheck}, for backends that check for NaNs themselves. The
   * group checks tensors in host memory.
   */
  default void setNanCheck(boolean enabled) {}

  /** Carries out {@link ProcessGroup#enableTiming}, for backends whose devices can measure. */
  default void enableTiming() {}

  /**
   * Explains which algorithm carries out each collective, see {@link ProcessGroup#explain}; empty
   * where the backend's library chooses.
   */
  default List<AlgorithmChoices.Choice> explain(DType dtype, ReduceOp op) {
    return List.of();
  }

  /** Carries out {@link ProcessGroup#allocate}. */
  Tensor allocate(DType dtype, long count);

  /**
   * Carries out {@link ProcessGroup#register}. The tensor lies on the backend's device.
   *
   * @throws IllegalArgumentException unless overridden
   */
  default MemoryRegistration register(Tensor tensor) {
    throw new IllegalArgumentException(
        "Backend "
            + name()
            + " need not be told of memory, such as that of "
            + tensor
            + "; memory that suits it best is that of ProcessGroup.allocate");
  }

  /** Carries out {@link ProcessGroup#allocateShared}. */
  default SharedMemory allocateShared(long bytes) throws IOException {
    throw new IOException("Backend " + name() + " has no memory that other processes can map");
  }

  /** Carries out {@link ProcessGroup#close}. */
  @Override
  void close();
}
