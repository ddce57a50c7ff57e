package org.sparkcollectives;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What carries out the operations of one group on one kind of device: the interface to implement
 * for another transport or library.
 *
 * <p>A {@link ProcessGroup} checks the arguments of an operation before it calls its backend:
 * counts, types, ranks and lists fit, and the tensors lie on the backend's device. Each operation
 * returns at once; {@code timeout} bounds it from the call on.
 */
public interface Backend extends AutoCloseable {

  /** The name under which users ask for it, such as {@code netty}. */
  String name();

  /**
   * This backend for the operations of one longer call, such as the frames of an object. Each of
   * them is given what is left of the call's time; errors had better name the whole, which the user
   * knows.
   *
   * @param callTimeout what the user has set for the whole call
   */
  default Backend withinCall(Duration callTimeout) {
    return this;
  }

  /** See {@link ProcessGroup#broadcast}. */
  Work broadcast(Tensor tensor, int root, Duration timeout);

  /** See {@link ProcessGroup#allReduce}. */
  Work allReduce(Tensor tensor, ReduceOp op, Duration timeout);

  /** See {@link ProcessGroup#allReduce(SparseTensor)}. */
  Work allReduce(SparseTensor tensor, Duration timeout);

  /** See {@link ProcessGroup#allReduceCoalesced}. */
  Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op, Duration timeout);

  /** See {@link ProcessGroup#reduce}. */
  Work reduce(Tensor tensor, ReduceOp op, int root, Duration timeout);

  /** See {@link ProcessGroup#allGather(Tensor, Tensor)}. */
  Work allGather(Tensor output, Tensor input, Duration timeout);

  /** See {@link ProcessGroup#allGather(List, Tensor)}. */
  Work allGather(List<Tensor> outputs, Tensor input, Duration timeout);

  /** See {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}. */
  Work reduceScatter(Tensor output, Tensor input, ReduceOp op, Duration timeout);

  /** See {@link ProcessGroup#reduceScatter(Tensor, List, ReduceOp)}. */
  Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout);

  /** See {@link ProcessGroup#gather}. */
  Work gather(List<Tensor> outputs, Tensor input, int root, Duration timeout);

  /** See {@link ProcessGroup#scatter}. */
  Work scatter(Tensor output, List<Tensor> inputs, int root, Duration timeout);

  /**
   * See {@link ProcessGroup#allToAll(Tensor, Tensor)}: all ranks know that the parts are equal in
   * count.
   */
  Work allToAll(Tensor output, Tensor input, Duration timeout);

  /** See {@link ProcessGroup#allToAll(List, List)}: the parts of one or several tensors. */
  Work allToAll(List<Tensor> outputs, List<Tensor> inputs, Duration timeout);

  /** See {@link ProcessGroup#barrier}. */
  Work barrier(Duration timeout);

  /** See {@link ProcessGroup#send}. */
  Work send(Tensor tensor, int destination, int tag, Duration timeout);

  /** See {@link ProcessGroup#recv}. */
  Work recv(Tensor tensor, int source, int tag, Duration timeout);

  /** See {@link ProcessGroup#recvAny}. */
  Work recvAny(Tensor tensor, int tag, Duration timeout);

  /** See {@link ProcessGroup#batch}; all tensors lie on the backend's device. */
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
   * Returns the collectives of objects of a backend that has its own, as one without other ranks
   * does; empty where the group carries them out by operations on tensors.
   */
  default Optional<ObjectCollectives> objects() {
    return Optional.empty();
  }

  /**
   * Begins a block of operations, see {@link ProcessGroup#coalesce}: a backend may put off what the
   * calling thread begins in it until the block ends, and then begin all of it at once.
   *
   * @return ends the block; run once, by any thread
   */
  default Runnable beginCoalescing() {
    return () -> {};
  }

  /**
   * Ranks of this backend's group make groups of their own, all at once, and this rank is in none
   * of them: for backends in which all ranks have a part in that, see {@link BackendOrigin}.
   */
  default void splitAway(Duration timeout) {}

  /**
   * See {@link ProcessGroup#setNanCheck}: for backends that look for NaNs themselves. The group
   * does so for tensors in host memory.
   */
  default void setNanCheck(boolean enabled) {}

  /** See {@link ProcessGroup#allocate}. */
  Tensor allocate(DType dtype, long count);

  /**
   * See {@link ProcessGroup#register}; the tensor lies on the backend's device.
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

  /** See {@link ProcessGroup#allocateShared}. */
  default SharedMemory allocateShared(long bytes) throws IOException {
    throw new IOException("Backend " + name() + " has no memory that other processes can map");
  }

  /** See {@link ProcessGroup#close}. */
  @Override
  void close();
}
