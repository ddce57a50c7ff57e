package org.sparkcollectives.spark.elastic;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ddp.CommHook;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.ddp.ReducerOptions;

/**
 * Averages gradients over the participants of each step, in buckets while the backward pass goes
 * on: a {@link GradientReducer} that follows the quorums of a {@link Replica}. The counterpart of
 * torchft's {@code DistributedDataParallel}.
 *
 * <pre>{@code
 * try (ReplicaReducer reducer = ReplicaReducer.of(replica, parameters, ReducerOptions.defaults())) {
 *   while (replica.startQuorum() < steps) {
 *     reducer.step(gradients -> {
 *       gradients.beginForward();
 *       double loss = model.forward(batch);
 *       gradients.beginBackward();
 *       model.backward(loss, gradients::markReady);
 *       gradients.finish();
 *     });
 *     if (replica.shouldCommit()) {
 *       optimizer.step();
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>The mean is over the participants of the step. Not thread-safe, like its replica.
 */
public final class ReplicaReducer implements AutoCloseable {

  private final Replica replica;
  private final List<Parameter> parameters;
  private final ReducerOptions options;
  private final Supplier<CommHook> hook;

  /** Null before the first step. */
  private GradientReducer reducer;

  /** The quorum that it belongs to. */
  private long quorum;

  private ReplicaReducer(
      Replica replica,
      List<Parameter> parameters,
      ReducerOptions options,
      Supplier<CommHook> hook) {
    this.replica = replica;
    this.parameters = List.copyOf(parameters);
    this.options = options;
    this.hook = hook;
  }

  /**
   * Creates a reducer. Waits for nobody; the first {@link #step} compares parameters and options.
   *
   * @param parameters the same on all replicas. Register their values by {@link Replica#state}
   */
  public static ReplicaReducer of(
      Replica replica, List<Parameter> parameters, ReducerOptions options) {
    Objects.requireNonNull(replica, "replica");
    return new ReplicaReducer(replica, parameters, options, null);
  }

  /**
   * Returns this reducer with a hook that reduces the buckets, see {@link
   * GradientReducer#setCommHook}. Each quorum has a new one, so what hooks keep from step to step,
   * such as rounding errors, ends with a quorum, on all replicas at once.
   *
   * @param hooks makes a hook
   * @throws IllegalStateException after the first step
   */
  public ReplicaReducer withCommHook(Supplier<CommHook> hooks) {
    if (reducer != null) {
      throw new IllegalStateException("A hook must be set before the first step");
    }
    return new ReplicaReducer(replica, parameters, options, Objects.requireNonNull(hooks, "hooks"));
  }

  /**
   * Runs the forward and backward passes of a step. In the first step of each quorum this first
   * makes a new reducer, with gradients of zero, and waits for the other participants to do so, for
   * the group's timeout at the most.
   *
   * <p>Does not throw when a replica is lost, as {@link Replica#allReduce}: {@link
   * Replica#shouldCommit} then returns false.
   *
   * @param passes what the reducer wants of a step, from {@link GradientReducer#beginForward} to
   *     {@link GradientReducer#finish}. Called at most once; not at all if a replica was lost
   *     before
   * @return false if a replica was lost
   * @throws IllegalArgumentException on all replicas, if they have different parameters or options
   * @throws IllegalStateException outside a step of the replica, and as the reducer's methods
   */
  public boolean step(Consumer<GradientReducer> passes) {
    return replica.exchange(
        participants -> {
          if (replica.quorumId() != quorum) {
            close();
            reducer = create(participants);
            quorum = replica.quorumId();
          }
          passes.accept(reducer);
        });
  }

  private GradientReducer create(ProcessGroup participants) {
    GradientReducer created = GradientReducer.create(participants, parameters, options);
    if (hook != null) {
      created.setCommHook(hook.get());
    }
    return created;
  }

  /** Frees the memory of the gradients. Waits as {@link GradientReducer#close} does. */
  @Override
  public void close() {
    if (reducer != null) {
      reducer.close();
      reducer = null;
      quorum = 0;
    }
  }
}
