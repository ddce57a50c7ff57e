package org.sparkcollectives.spark.elastic;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * A copy of the model, trained together with others, as one task sees it: the counterpart of
 * torchft's {@code Manager}, most of whose names it has.
 *
 * <pre>{@code
 * double[] weights = new double[features];
 * replica.state("weights", Tensor.of(weights));
 * while (replica.startQuorum() < steps) {
 *   double[] gradient = gradient(weights, batch(replica.currentStep()));
 *   replica.allReduce(Tensor.of(gradient), ReduceOp.AVG);
 *   if (replica.shouldCommit()) {
 *     descend(weights, gradient);
 *   }
 * }
 * }</pre>
 *
 * <p>A <b>step</b> begins with {@link #startQuorum} and ends with {@link #shouldCommit}. If that
 * returns false, a replica was lost: the step must leave no trace in the state, and the loop does
 * it again, with those that are left. Change the state only after a {@code true}, and only by what
 * {@link #allReduce} has brought, so that it is the same on all replicas.
 *
 * <p>A <b>quorum</b> is the set of replicas that take steps together; all of them are participants
 * in each of its steps. It changes when a replica is lost, and when one that waits comes in, which
 * gets the state of the others first. Not thread-safe: for the thread of the task.
 *
 * <p><b>Several ranks.</b> A replica may be several tasks, its ranks ({@code
 * ElasticStage.withReplicaSize}). Each has such an object, with the part of the state that is its
 * own; all call its methods alike. {@link #allReduce} and the state that a replica receives are
 * between the same rank of all replicas. A step counts on all ranks of a replica or on none. What
 * they have to tell each other within the step goes through {@link #group}.
 */
public interface Replica {

  /**
   * Returns the number of this replica: its partition, by the number of ranks if it has several.
   */
  int replicaId();

  /**
   * Returns the group of the ranks of this replica, for what they exchange within a step: a model
   * in shards, or stages of a pipeline. The same for as long as the task runs; when one of its
   * ranks is lost, its collectives throw, and so do {@link #startQuorum} and {@link #shouldCommit},
   * which use it, too: let the exception pass, as the replica begins again with all its ranks. All
   * ranks make these calls and their collectives in the same order.
   *
   * <p>If the replica has one rank, so has the group, which the first call makes; that waits for
   * nobody.
   */
  ProcessGroup group();

  /**
   * Registers the tensors that a replica which joins or is behind receives from another one. They
   * are all that the next step depends on: parameters, the optimizer's state, and whatever else
   * changes from step to step. At the first quorum all replicas get those of the first one. Not
   * changed by this call.
   *
   * @param name tells them from others; the same on all replicas
   * @param tensors of the same types and shapes on all replicas, in the memory of the host
   * @throws IllegalArgumentException if there are none, or the name is taken
   * @throws IllegalStateException after the first {@link #startQuorum}
   */
  void state(String name, Tensor... tensors);

  /**
   * Registers state of any size, such as objects that grow, by functions of this replica. Otherwise
   * as {@link #state(String, Tensor...)}: it goes to the same replicas, at the same times.
   *
   * @param name tells it from others; the same on all replicas
   * @param save returns the state as bytes. Called by {@link #startQuorum} on the replica that
   *     others receive from, just before they do, and for a checkpoint. What it throws, that throws
   * @param load replaces the state by what {@code save} has returned on another replica
   * @throws IllegalArgumentException if the name is taken
   * @throws IllegalStateException after the first {@link #startQuorum}
   */
  void state(String name, Supplier<byte[]> save, Consumer<byte[]> load);

  /**
   * Begins a step. Returns at once while the quorum does not change. Otherwise blocks until the
   * driver has decided the next one, the replicas have connected, and those that are behind have
   * received the state, which may have changed when this returns. A quorum waits for its {@code
   * minReplicas}, for however long it takes Spark to start them, and for members that do not come,
   * for the group's timeout; the first one also waits for all whose tasks have begun by then. A
   * wait ends when the task is killed.
   *
   * @return {@link #currentStep}
   * @throws RunOverException if others have finished the run
   * @throws IllegalStateException if the last step has not ended, no state is registered, the
   *     states of the replicas differ in names, types or shapes, or a hundred attempts in a row
   *     have failed
   * @throws org.sparkcollectives.store.StoreException if another task has begun in this one's
   *     place, or the state is lost and there is no checkpoint
   */
  long startQuorum();

  /**
   * Returns the number of steps that were committed before this one, by whichever replicas; 0
   * before the first.
   */
  long currentStep();

  /** Returns how many replicas take part in this step. */
  int numParticipants();

  /** Returns the rank of this replica among them, in the order of their numbers. */
  int participatingRank();

  /** Returns the number of the quorum; it grows whenever the participants change, or one fails. */
  long quorumId();

  /**
   * Returns the partitions of the rows that this replica has in this step, ascending. All replicas
   * agree on them, without asking anybody; they change with the quorum only.
   *
   * <p>It is the partition of this task: {@link #replicaId}, if the replica has one rank. With
   * {@link LostRows#TAKE_OVER} it has some of the partitions of replicas that are away, too, at
   * most its share of them rounded up. Exactly one replica has each partition. A change of the
   * quorum moves few partitions of those that stay.
   *
   * @throws IllegalStateException before the first {@link #startQuorum}
   */
  List<Integer> partitions();

  /**
   * Adds up arrays of all partitions, element by element in the order of the partitions, whichever
   * replicas have them; if replicas have several ranks, of those that the same rank of each has. So
   * with {@link LostRows#TAKE_OVER} and {@link LostRows#WAIT} the sum has the bits of an
   * undisturbed run, which {@link #allReduce} does not promise. Blocks until it is done. Each
   * replica sends about as much as for an all-reduce of one array, and half as much for each
   * further partition that it has.
   *
   * <p>When a replica is lost, it does as {@link #allReduce}: the array returned then has undefined
   * contents.
   *
   * @param own one array for each of {@link #partitions}, in their order, of the same length on all
   *     replicas; only read
   * @return a new array, the same on all replicas
   * @throws IllegalArgumentException if there is another number of arrays, or they differ in length
   * @throws IllegalStateException outside a step
   */
  double[] sumOverPartitions(List<double[]> own);

  /**
   * Reduces a tensor over the participants, in place. Blocks until it is done.
   *
   * <p>Does not throw when a replica is lost: the tensor then has undefined contents, later calls
   * of the step return at once, and {@link #shouldCommit} returns false. It throws if this task is
   * killed, for a bad argument, and if replicas call it with different arguments ({@link
   * org.sparkcollectives.CollectiveMismatchException}).
   *
   * @throws IllegalStateException outside a step
   */
  void allReduce(Tensor tensor, ReduceOp op);

  /**
   * Runs other collectives of the participants, such as a broadcast, on their group. Does not throw
   * when a replica is lost, as {@link #allReduce}; the rest of the function is then not run. Its
   * other exceptions pass.
   *
   * @param collectives given the group, whose ranks are {@link #participatingRank}; not run if a
   *     replica was lost in this step already. The group changes with the quorum: keep nothing that
   *     was made from it
   * @return false if a replica was lost: the step will not be committed
   * @throws IllegalStateException outside a step
   */
  boolean exchange(Consumer<ProcessGroup> collectives);

  /**
   * Ends the step, and returns whether its results count. Blocks for a small all-reduce, by which
   * all participants know that all have come so far.
   *
   * <p>When an executor dies in this very moment, some may get true and others false. Those that
   * are behind then receive the state of the others.
   *
   * @return false if a replica was lost meanwhile: do the step again
   * @throws IllegalStateException outside a step
   */
  boolean shouldCommit();
}
