package org.sparkcollectives;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.sparkcollectives.store.Store;

/**
 * A rank's handle on a group of ranks that communicate.
 *
 * <p><b>Ranks</b> are group ranks, 0 to {@code size() - 1}, unless a name says {@code global}: the
 * global rank is the rank in the world group that this group came from.
 *
 * <p><b>Collectives</b> must be called by all ranks of the group, in the same order, with the same
 * type, count, reduction and root. They run in that order, one after the other. Messages between
 * two ranks ({@code send}, {@code recv}) run beside them, and match by peer and tag.
 *
 * <p><b>A method that returns a {@link Work} is asynchronous</b>: it returns at once, and the
 * operation proceeds whether or not somebody waits. The operation owns its tensors until the work
 * is done, see {@link Tensor}. A wrong argument is refused with {@link IllegalArgumentException} at
 * the call, before a sequence number is taken, and the group stays usable.
 *
 * <p><b>Failure</b>: when a rank fails, is killed, or leaves while others wait for it, or an
 * operation misses its deadline, every pending and future operation of the group throws {@link
 * CollectiveException} on every rank, and the group has ended: only {@link #close}, {@link #abort},
 * {@link #shrink}, {@link #store} and diagnosis still work. (With {@link ErrorHandling#NONE} a
 * failed operation is not reported to other ranks.) The contents of a failed operation's tensors
 * are undefined. After {@link #close} operations throw {@link IllegalStateException}.
 *
 * <p>Two handles are equal if they are handles of the same group on the same rank: the group itself
 * and its views, such as those of {@link #withTimeout} and {@link #group}.
 *
 * <p>A group may be used by several threads, which must then agree on the order of their
 * collectives. The semantics follow c10d's {@code ProcessGroup} in PyTorch.
 */
public interface ProcessGroup
    extends GroupMembers, SubgroupFactory, GroupDiagnostics, AutoCloseable {

  /**
   * Returns the group's part of the store, for the user's own keys. A call that waits in it when
   * the group fails throws. Calls that begin later work until the group is closed or the task is
   * killed, so that ranks can agree on how to go on. Closing it does nothing to the group. A value
   * has {@link Store#MAX_VALUE_BYTES} at the most. Spark's driver keeps large ones on its disk when
   * memory is short, as many as {@code spark.collectives.store.maxSize} allows.
   */
  Store store();

  /** Returns how long an operation may take unless a call says otherwise. */
  Duration timeout();

  /**
   * Returns a view of this group with another timeout. It owns nothing: closing it does nothing.
   */
  ProcessGroup withTimeout(Duration timeout);

  /**
   * Gives operations more time for a while (c10d's ephemeral timeout): those of this group, and of
   * all views of it, that this rank begins until the first of them completes may take {@code extra}
   * beyond their timeout. For a step that is slow once, such as the loading of a checkpoint.
   * Extensions add up. Other ranks that wait in the same operation call this too.
   *
   * @throws IllegalArgumentException if it is negative, or more than 10,000 days
   */
  void extendTimeout(Duration extra);

  /** Sends {@code tensor} of rank {@code root} to all ranks; elsewhere it is overwritten. */
  Work broadcast(Tensor tensor, int root);

  /**
   * Sends {@code tensors} of rank {@code root} to all ranks; elsewhere they are overwritten.
   * Tensors of the same type in host memory that are smaller than {@code bufferBytes} are copied
   * into shared buffers, and each buffer is one broadcast; a larger tensor is sent from where it
   * is, without a copy. c10d's {@code _broadcast_coalesced}. For many small tensors, such as the
   * parameters of a model: for few or large ones, {@link #broadcast} within {@link #coalesce} does
   * the same.
   *
   * <p>A collective that consists of several: one small all-reduce compares what the ranks give,
   * then the broadcasts follow. Blocks until this rank has all tensors, for the {@link #timeout()}
   * at the most. At most two buffers are under way at a time, so that it needs less than four times
   * {@code bufferBytes} of memory.
   *
   * @param tensors at least one; of any types, but of the same types and counts in the same order
   *     on all ranks
   * @param bufferBytes a buffer takes tensors until it has at least these bytes; the same on all
   *     ranks
   * @throws IllegalArgumentException on every rank, before any tensor is sent, if a rank gives
   *     something wrong, or if ranks give different types, counts, buffers or roots; the group
   *     stays usable
   * @throws CollectiveException if the group has failed
   */
  void broadcastCoalesced(List<Tensor> tensors, long bufferBytes, int root);

  /**
   * Sends {@code tensors} of rank {@code root} to all ranks, in buffers of 250 MiB, as PyTorch's
   * data parallelism does. See {@link #broadcastCoalesced(List, long, int)}.
   */
  default void broadcastCoalesced(List<Tensor> tensors, int root) {
    broadcastCoalesced(tensors, 250L << 20, root);
  }

  /** Reduces {@code tensor} over all ranks, in place, to the same bits on every rank. */
  Work allReduce(Tensor tensor, ReduceOp op);

  /** Sums up {@code tensor} over all ranks, in place: {@link ReduceOp#SUM}, as c10d's default. */
  default Work allReduce(Tensor tensor) {
    return allReduce(tensor, ReduceOp.SUM);
  }

  /**
   * Sums up sparse tensors of one shape and type. The ranks may store elements at different
   * indices; the tensor itself stays as it is. {@link Work#sparseResult} has the sum, the same on
   * every rank.
   */
  Work allReduce(SparseTensor tensor);

  /**
   * Reduces each of {@code tensors} over all ranks, in place, as one operation.
   *
   * @param tensors at least one, all of one type; all ranks give the same counts
   */
  Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op);

  /** Reduces {@code tensor} over all ranks, in place at {@code root}; elsewhere it is only read. */
  Work reduce(Tensor tensor, ReduceOp op, int root);

  /** Sums up {@code tensor} over all ranks, in place at {@code root}: {@link ReduceOp#SUM}. */
  default Work reduce(Tensor tensor, int root) {
    return reduce(tensor, ReduceOp.SUM, root);
  }

  /**
   * Gathers the {@code input} of all ranks, in rank order, in {@code output} on all ranks.
   *
   * @param output as many elements as all ranks' inputs together, which are equal in count
   */
  Work allGather(Tensor output, Tensor input);

  /**
   * Gathers the {@code input} of all ranks on all ranks.
   *
   * @param outputs one for each rank, of the count of that rank's input; counts may differ by rank
   */
  Work allGather(List<Tensor> outputs, Tensor input);

  /**
   * Reduces {@code input} over all ranks and leaves each rank its part.
   *
   * @param output part {@code rank()} of the result
   * @param input {@code size()} parts of the output's count, in rank order; only read
   */
  Work reduceScatter(Tensor output, Tensor input, ReduceOp op);

  /**
   * Reduces {@code inputs} over all ranks and leaves each rank its part.
   *
   * @param output part {@code rank()} of the result
   * @param inputs one for each rank, of the count of that rank's output; counts may differ by rank;
   *     only read
   */
  Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op);

  /** Sums up {@code input} over all ranks and leaves each its part: {@link ReduceOp#SUM}. */
  default Work reduceScatter(Tensor output, Tensor input) {
    return reduceScatter(output, input, ReduceOp.SUM);
  }

  /** Sums up {@code inputs} over all ranks and leaves each its part: {@link ReduceOp#SUM}. */
  default Work reduceScatter(Tensor output, List<Tensor> inputs) {
    return reduceScatter(output, inputs, ReduceOp.SUM);
  }

  /**
   * Gathers the {@code input} of all ranks at {@code root}.
   *
   * @param outputs at the root one for each rank, of the count of that rank's input; counts may
   *     differ by rank. Elsewhere an empty list
   */
  Work gather(List<Tensor> outputs, Tensor input, int root);

  /**
   * Gives each rank one of the tensors of {@code root}.
   *
   * @param inputs at the root one for each rank, of the count of that rank's output; counts may
   *     differ by rank. Elsewhere an empty list
   */
  Work scatter(Tensor output, List<Tensor> inputs, int root);

  /**
   * Sends equal parts of {@code input}, one to each rank, and receives one from each.
   *
   * @param output {@code size()} parts in rank order; other memory than the input
   * @param input {@code size()} parts in rank order, of equal count on all ranks; only read
   */
  Work allToAll(Tensor output, Tensor input);

  /**
   * Sends parts of {@code input}, one to each rank, and receives one from each.
   *
   * @param output other memory than the input
   * @param input only read
   * @param outputSplits how much of the output's first dimension comes from each rank; null or
   *     empty for equal parts
   * @param inputSplits how much of the input's first dimension goes to each rank; null or empty for
   *     equal parts
   */
  Work allToAll(Tensor output, Tensor input, long[] outputSplits, long[] inputSplits);

  /**
   * Sends each rank one of {@code inputs}, and receives one from each.
   *
   * @param outputs one for each rank, of the count that that rank sends here; other memory than the
   *     inputs
   * @param inputs one for each rank; only read
   */
  Work allToAll(List<Tensor> outputs, List<Tensor> inputs);

  /** Returns a work that is done on each rank when all ranks have called this. */
  Work barrier();

  /**
   * Prepares {@link #allReduce(Tensor, ReduceOp)} for a loop that calls it again and again on one
   * tensor: MPI-4's {@code MPI_Allreduce_init}. This and the methods like it are local: they check
   * the arguments, exchange nothing and take no sequence number. All starts have the timeout of
   * this group or view.
   */
  PersistentCollective allReduceInit(Tensor tensor, ReduceOp op);

  /** Prepares {@link #allReduce(Tensor)}, the sum, see {@link #allReduceInit(Tensor, ReduceOp)}. */
  default PersistentCollective allReduceInit(Tensor tensor) {
    return allReduceInit(tensor, ReduceOp.SUM);
  }

  /** Prepares {@link #broadcast}, see {@link #allReduceInit(Tensor, ReduceOp)}. */
  PersistentCollective broadcastInit(Tensor tensor, int root);

  /**
   * Prepares {@link #allGather(Tensor, Tensor)}, see {@link #allReduceInit(Tensor, ReduceOp)}.
   *
   * @param output as many elements as all ranks' inputs together, which are equal in count
   */
  PersistentCollective allGatherInit(Tensor output, Tensor input);

  /**
   * Prepares {@link #allGather(List, Tensor)}, see {@link #allReduceInit(Tensor, ReduceOp)}.
   *
   * @param outputs one for each rank, of the count of that rank's input; counts may differ by rank
   */
  PersistentCollective allGatherInit(List<Tensor> outputs, Tensor input);

  /**
   * Prepares {@link #reduceScatter(Tensor, Tensor, ReduceOp)}, see {@link #allReduceInit(Tensor,
   * ReduceOp)}.
   *
   * @param output part {@code rank()} of the result
   * @param input {@code size()} parts of the output's count, in rank order; only read
   */
  PersistentCollective reduceScatterInit(Tensor output, Tensor input, ReduceOp op);

  /**
   * Prepares {@link #reduceScatter(Tensor, List, ReduceOp)}, see {@link #allReduceInit(Tensor,
   * ReduceOp)}.
   *
   * @param output part {@code rank()} of the result
   * @param inputs one for each rank, of the count of that rank's output; counts may differ by rank;
   *     only read
   */
  PersistentCollective reduceScatterInit(Tensor output, List<Tensor> inputs, ReduceOp op);

  /** Prepares {@link #reduceScatter(Tensor, Tensor)}, the sum. */
  default PersistentCollective reduceScatterInit(Tensor output, Tensor input) {
    return reduceScatterInit(output, input, ReduceOp.SUM);
  }

  /** Prepares {@link #reduceScatter(Tensor, List)}, the sum. */
  default PersistentCollective reduceScatterInit(Tensor output, List<Tensor> inputs) {
    return reduceScatterInit(output, inputs, ReduceOp.SUM);
  }

  /**
   * Prepares {@link #gather}, see {@link #allReduceInit(Tensor, ReduceOp)}.
   *
   * @param outputs at the root one for each rank, of the count of that rank's input; counts may
   *     differ by rank. Elsewhere an empty list
   */
  PersistentCollective gatherInit(List<Tensor> outputs, Tensor input, int root);

  /**
   * Sends {@code tensor} to one rank. The work is done when the memory may be used again, which is
   * not before the peer has called a {@code recv} that matches.
   *
   * <p>If that {@code recv} is of another type or count, nothing is sent, both works fail with
   * {@link CollectiveMismatchException}, and the group stays usable.
   *
   * @param tag 0 or more; messages with the same peer and tag keep their order
   */
  Work send(Tensor tensor, int destination, int tag);

  /**
   * Receives from one rank a message of this tag, of the type and count of {@code tensor}; see
   * {@link #send} for what happens if the message is another.
   */
  Work recv(Tensor tensor, int source, int tag);

  /**
   * Receives a message of this tag from whichever rank offers one first; {@link Work#sourceRank}
   * tells which.
   */
  Work recvAny(Tensor tensor, int tag);

  /** Sends with the tag 0, c10d's default. */
  default Work send(Tensor tensor, int destination) {
    return send(tensor, destination, 0);
  }

  /** Receives with the tag 0, c10d's default. */
  default Work recv(Tensor tensor, int source) {
    return recv(tensor, source, 0);
  }

  /** Receives with the tag 0, c10d's default, from whichever rank offers a message first. */
  default Work recvAny(Tensor tensor) {
    return recvAny(tensor, 0);
  }

  /**
   * Waits for all ranks, and names those that do not come, to find out which rank is stuck. Slow,
   * because all ranks go through the store. Blocks until all ranks have called it, for the smaller
   * one of {@code timeout} and the store's at the most; ranks other than 0 wait five seconds longer
   * for rank 0's answer. Unlike the deadline of other operations, this one does not end the group.
   * The semantics are those of c10d's {@code monitored_barrier}.
   *
   * @param waitAllRanks whether all ranks that are missing are named; else the lowest is
   * @throws CollectiveTimeoutException on every rank that came, with the ranks that did not; where
   *     rank 0 did not come, with rank 0 alone
   */
  void monitoredBarrier(Duration timeout, boolean waitAllRanks);

  /**
   * Runs a monitored barrier with the {@link #timeout()} of this group or view, which names the
   * lowest rank that does not come: c10d's defaults.
   */
  default void monitoredBarrier() {
    monitoredBarrier(timeout(), false);
  }

  /**
   * Begins several messages. Their order does not matter: two ranks may both send first.
   *
   * @param operations at least one; all are checked before the first begins
   * @return one work for each
   */
  List<Work> batch(List<P2POp> operations);

  /**
   * Begins a block of operations of this group and thread that are awaited as one. The operations
   * in it are as they are outside, in the same order; each also has its own {@link Work}.
   *
   * @throws IllegalStateException in a block of this group and thread
   */
  Coalescing coalesce();

  /**
   * Returns the collectives and messages of Java objects in this group, with the timeout of this
   * view.
   */
  ObjectCollectives objects();

  /**
   * Returns a tensor of zeros in the memory that is fastest for the group's paths. Prefer it for
   * tensors that are used again and again. The memory may be unmapped when the group is closed: any
   * use of it afterwards throws {@link IllegalStateException}.
   */
  Tensor allocate(DType dtype, long count);

  /**
   * Returns a tensor of zeros of a shape, in the memory of {@link #allocate(DType, long)}.
   *
   * @param shape the extent of each dimension; none for a single element without dimensions
   */
  default Tensor allocate(DType dtype, long... shape) {
    return allocate(dtype, Library.as(TensorProvider.class).count(shape)).reshape(shape);
  }

  /**
   * Returns a tensor of zeros in the memory of a kind of device, such as this rank's GPU, until the
   * group is closed.
   *
   * @throws IllegalArgumentException if the group has no backend for it
   */
  Tensor allocate(DType dtype, long count, Device.Type device);

  /**
   * Registers memory with the backend that belongs to another library, such as torch or cudf, and
   * that operations will use again and again. Where the backend can, it then reaches the memory as
   * fast as that of {@link #allocate}. Each rank calls this for memory of its own, and does not
   * wait for the others. Memory that is registered twice stays registered until both registrations
   * are closed.
   *
   * @return to be closed before the memory is freed
   * @throws IllegalArgumentException if the group has no backend for the tensor's device, or one
   *     that needs no registration, as that of host memory
   */
  MemoryRegistration register(Tensor tensor);

  /**
   * Returns zeros in memory that another process of this host can map too, for a rank that computes
   * elsewhere than in this JVM. Tensors in it are as fast as those of {@link #allocate}. It is
   * closed with the group.
   *
   * @throws IOException if there is no such memory, or no room in it
   */
  SharedMemory allocateShared(long bytes) throws IOException;

  /**
   * Keeps {@code tensors} of each rank for longer than the group lives, so that ranks that start
   * again because one of them was lost continue from here instead of from the beginning. A
   * collective: called by all ranks, and blocks until the tensors of all ranks are kept, for the
   * timeout at the most. Either the tensors of all ranks are kept, or none.
   *
   * <p>In Spark the driver keeps them, beyond the attempt of the stage; see {@code BarrierStage}.
   * Elsewhere they are kept in the store that the rank's first group was made over, and are lost
   * with it. The latest version of a name counts; one more is kept, and those before are removed.
   * If a store refuses, every rank throws, the group goes on, and the version before stays.
   *
   * <p>A group that was made from another one has checkpoints of its own, which belong to the group
   * that is made in the same way the next time; a group that {@link #shrink} makes has the
   * checkpoints of this one.
   *
   * @param name tells it from other checkpoints of this group; up to 1024 bytes
   * @param tensors as many as this rank has to keep; other ranks may have others. Only read
   * @throws CollectiveException on every rank, if it could not be kept on one of them
   */
  void checkpoint(String name, List<Tensor> tensors);

  /**
   * Keeps {@code tensors} that have the same values on all ranks, as {@link #checkpoint} does, but
   * only once: those of rank 0. A group of any size can restore them.
   */
  void checkpointReplicated(String name, List<Tensor> tensors);

  /**
   * Overwrites {@code tensors} with the latest version kept under this name: each rank with its own
   * if {@link #checkpoint} kept it, all with the same if {@link #checkpointReplicated} did. A
   * collective: called by all ranks, which all get the same version, and blocks until they have it,
   * for the timeout at the most.
   *
   * @param tensors of the types and shapes that were kept, in that order
   * @return false on every rank if nothing was kept; the tensors then stay as they are
   * @throws IllegalArgumentException on the ranks whose tensors are of other types or shapes, and
   *     {@link CollectiveException} on the others; all tensors stay as they are
   * @throws IllegalStateException if as many parts were kept as another number of ranks had
   * @throws CollectiveException if what was kept cannot be read; what the tensors hold is undefined
   */
  boolean restore(String name, List<Tensor> tensors);

  /** Ends the group on every rank; all pending and future operations throw. Does not block. */
  void abort(Throwable cause);

  /**
   * Leaves the group and frees what this rank holds of it. Waits until pending operations of this
   * rank are done and peers have received what was sent to them; those that are not done after the
   * timeout abort the group. Closes the groups made from this one, too, which share its timeout.
   * Waits for no other rank when the group has failed: then it returns within about two seconds.
   * The rank that serves a store of its own for the group, as rank 0 of a {@code tcp://} rendezvous
   * does, also waits for the others to leave it, for 30 seconds at the most. Local, and idempotent:
   * other ranks may go on with operations that do not need this one.
   */
  @Override
  void close();
}
