package org.sparkcollectives.ddp;

import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.join.JoinHook;
import org.sparkcollectives.join.JoinOptions;
import org.sparkcollectives.join.JoinStep;
import org.sparkcollectives.join.Joinable;
import org.sparkcollectives.spi.CallCheck;

/**
 * Averages the gradients of all ranks while the backward pass goes on: the reducer of PyTorch's
 * {@code DistributedDataParallel}, for any engine that computes gradients.
 *
 * <p>Gradients are put into buckets. Each bucket is averaged by one all-reduce as soon as its last
 * gradient is there, in the same order on every rank. A step is
 *
 * <pre>{@code
 * reducer.beginForward();
 * // compute the loss
 * reducer.beginBackward();
 * // for each gradient, once it is complete in reducer.gradient(i):
 * reducer.markReady(i);
 * reducer.finish();
 * // reducer.gradient(i) is the mean of all ranks
 * }</pre>
 *
 * <p>All ranks make the same steps. A sum is divided once, at its end, in every mode; half types
 * are summed up in float32. The bits are the same on every rank. They may depend on the layout of
 * the buckets, which follows the order in which rank 0 marked its parameters: {@link
 * ReducerOptions#withReadyOrder} fixes it.
 *
 * <p><b>Errors.</b> If a rank cannot finish a step, because it did not mark a parameter, marked one
 * twice or discarded the step, {@link #finish} throws the same {@link IllegalStateException} on all
 * ranks in that step, with the ranks and parameters. Gradients outside of the buckets are as they
 * were; those that are views of their buckets are zero. The next step works. If the group fails,
 * methods throw {@link org.sparkcollectives.CollectiveException}; {@link #setProcessGroup} then
 * gives the reducer another group.
 *
 * <p><b>Threads.</b> {@link #markReady(int)} may be called by any number of threads; all of these
 * calls must have returned before {@link #finish}. All other methods are called by one thread at a
 * time.
 */
public final class GradientReducer implements Joinable, AutoCloseable {

  private final List<Parameter> parameters;
  private final ReducerOptions options;
  private final ReducerCore core;

  private GradientReducer(List<Parameter> parameters, ReducerOptions options, ReducerCore core) {
    this.parameters = List.copyOf(parameters);
    this.options = options;
    this.core = core;
  }

  /**
   * Creates a reducer. A collective: called by all ranks of the group with the same parameters and
   * options, which it compares. It makes a group of its own of the same ranks, so that its
   * collectives do not mix with those of the caller. Blocks until all ranks have called it, for the
   * group's timeout at the most.
   *
   * @param parameters the same on every rank; the values are neither compared nor changed, see
   *     {@link ModelState#broadcast}
   * @throws IllegalArgumentException on all ranks, if they gave different parameters or options,
   *     with the first difference; or if a rank gave null, no parameter, or one of an integer type
   * @throws IllegalStateException on the ranks that have no room for the gradients
   * @throws org.sparkcollectives.CollectiveException on the other ranks then
   */
  public static GradientReducer create(
      ProcessGroup group, List<Parameter> parameters, ReducerOptions options) {
    return create(group, parameters, options, System::nanoTime);
  }

  /** Creates a reducer that takes its times by a given clock. */
  static GradientReducer create(
      ProcessGroup group, List<Parameter> parameters, ReducerOptions options, LongSupplier nanos) {
    ProcessGroup own = verified(group, parameters, options);
    try {
      ReducerCore core = new ReducerCore(parameters, options, nanos);
      byAll(
          own,
          () -> {
            core.use(own);
            core.memory().adopt();
          });
      return new GradientReducer(parameters, options, core);
    } catch (RuntimeException | Error e) {
      own.close();
      throw e;
    }
  }

  /** Returns a new group for a reducer, of the same ranks, once all have given the same. */
  private static ProcessGroup verified(
      ProcessGroup group, List<Parameter> parameters, ReducerOptions options) {
    ProcessGroup own =
        group.newGroup(GroupOptions.defaults().withDescription("reducer of gradients"));
    try {
      ReducerArguments.verify(own, parameters, options);
      return own;
    } catch (RuntimeException | Error e) {
      own.close();
      throw e;
    }
  }

  /** Has all ranks take their memory, so that all throw where one cannot. */
  private static void byAll(ProcessGroup own, Runnable step) {
    new CallCheck(own, "memory of a reducer of gradients").byAll(step);
  }

  /**
   * Returns where the engine adds a parameter's gradient, and where the mean is after {@link
   * #finish}. The reducer does not set it to zero after a step that succeeded. Where it is a view
   * of its bucket, it moves once, in {@link #beginForward}, with what it holds; see {@link
   * ReducerOptions#withRelocation}.
   *
   * @throws IllegalArgumentException if there is no such parameter, or its gradients are sparse
   */
  public Tensor gradient(int parameter) {
    return core.gradient(parameter);
  }

  /**
   * Returns the mean of a sparse gradient after {@link #finish}: each index once, in ascending
   * order; null before the first step, and if no rank has used the parameter.
   *
   * @throws IllegalArgumentException if there is no such parameter, or its gradients are dense
   */
  public SparseTensor sparseGradient(int parameter) {
    return core.sparseGradient(parameter);
  }

  /**
   * Begins a step. Once, after the first synchronised step, it rebuilds the buckets in the order in
   * which rank 0 marked its parameters; only then it waits for the other ranks, for the group's
   * timeout at the most. Within a join it tells the ranks without rows of the step.
   *
   * @throws IllegalStateException if a step is under way; in a join and with a weighted mean also
   *     if the last forward pass had no backward pass
   * @throws org.sparkcollectives.join.EarlyTerminationException on all ranks, in a join that ends
   *     as soon as one rank has no more rows
   */
  public void beginForward() {
    core.beginForward(this);
  }

  /** Begins the backward pass of a step, in which every parameter is expected. */
  public void beginBackward() {
    core.beginBackward(this, new BitSet());
  }

  /**
   * Begins the backward pass of a step, in which some parameters get no gradient on this rank, so
   * that their buckets need not wait for {@link #finish}. Whether the step synchronises is decided
   * here, see {@link #noSync}.
   *
   * @param unused the positions of the parameters without a gradient
   * @throws IllegalArgumentException if there are any, without {@link
   *     ReducerOptions#withFindUnused}, or if one is out of range
   * @throws IllegalStateException if a step is under way
   */
  public void beginBackward(BitSet unused) {
    core.beginBackward(this, unused);
  }

  /**
   * Says that a parameter's gradient is complete. It must not be changed until {@link #finish} has
   * returned. Begins the reduction of each bucket that is then complete, and never waits for
   * another rank. May be called by any thread.
   *
   * @throws IllegalArgumentException if there is no such parameter, or its gradients are sparse
   * @throws IllegalStateException outside of a backward pass, or if it was marked before in this
   *     step; if the step synchronises, {@link #finish} then throws on all ranks
   */
  public void markReady(int parameter) {
    core.mark(parameter);
  }

  /**
   * Says that a parameter's sparse gradient is complete; see {@link #markReady(int)}. In steps
   * without synchronisation gradients add up.
   *
   * @param gradient of the type and shape of the parameter, with one sparse dimension: rows, each
   *     with its index; the same index may be in it more than once
   * @throws IllegalArgumentException if there is no such parameter, its gradients are dense, or
   *     this one has another type or shape
   */
  public void markReady(int parameter, SparseTensor gradient) {
    core.mark(parameter, gradient);
  }

  /**
   * Ends the step: waits until the gradients of all ranks are averaged, for the group's timeout at
   * the most.
   *
   * @throws IllegalStateException on all ranks, if one of them did not mark all parameters, marked
   *     one twice, or discarded the step; or outside of a backward pass
   */
  public void finish() {
    core.finish();
  }

  /**
   * Ends the step where the engine threw an exception, in place of {@link #finish}. {@link #finish}
   * then throws on the other ranks, and nothing is averaged. Takes as long as {@link #finish}
   * would.
   *
   * @throws IllegalStateException if no step was begun
   */
  public void discardStep() {
    core.discard(this);
  }

  /**
   * Makes one step for an engine that has all gradients at once: begins it unless {@link
   * #beginForward} has, marks all dense parameters from the last to the first, and finishes it.
   * Blocks as {@link #finish} does.
   *
   * @throws IllegalStateException as {@link #finish}
   */
  public void reduce() {
    beginBackward();
    for (int i = parameters.size() - 1; i >= 0; i--) {
      if (!parameters.get(i).sparse()) {
        markReady(i);
      }
    }
    finish();
  }

  /**
   * Begins a block of steps whose gradients stay on their rank and add up, until it is closed. A
   * step belongs to the block if {@link #beginBackward()} is called in it; in a join {@link
   * #beginForward} too. All ranks do the same. These steps send no gradients, so other ranks do not
   * learn of a mistake in them. DDP's {@code no_sync}.
   */
  public NoSync noSync() {
    return core.pause();
  }

  /**
   * Has a hook reduce the buckets, in place of the reducer's all-reduce. Called once, before the
   * first step, by all ranks. It runs on a thread of the reducer, for one bucket after the other,
   * and its result is not divided. Buckets of sparse gradients do not go through it.
   *
   * <p>A hook that throws, whose future fails or is not done within the group's timeout, or whose
   * result has another type or count than the bucket's buffer, ends the reducer's group on all
   * ranks: {@link #finish} throws with that as cause.
   *
   * @throws IllegalStateException if there is a hook already, or a step was begun
   */
  public void setCommHook(CommHook hook) {
    core.setHook(Objects.requireNonNull(hook, "hook"));
  }

  /**
   * Says how many rows this rank has in the coming step, before {@link #beginForward}; the mean is
   * then over the rows of all ranks, whatever their distribution. The gradients of each rank are
   * those of the mean over its own rows. Needed in each step that synchronises: if a rank has not
   * called it, {@link #finish} throws on all ranks. After steps within {@link #noSync} it counts
   * for all that has added up. The half types lose bits, because each rank's share is rounded.
   *
   * @param rows 0 or more, also fractions; if all ranks have 0, the gradients are 0
   * @throws IllegalArgumentException if it is negative or not finite
   * @throws IllegalStateException without {@link ReducerOptions#withWeightedMean}, or if a step is
   *     under way
   */
  public void setWeight(double rows) {
    core.setWeight(rows);
  }

  /** Returns the buckets in their order, as they are until the next {@link #beginForward}. */
  public List<GradientBucket> buckets() {
    return List.copyOf(core.memory().buckets());
  }

  /** Returns what this reducer has done on this rank. */
  public ReducerStatistics statistics() {
    return core.statistics();
  }

  /** Returns the reducer's own group, which has the ranks of the one that it was created with. */
  @Override
  public ProcessGroup processGroup() {
    return core.group();
  }

  /**
   * Returns what this rank does once it has run out of rows: it contributes zeros to the steps of
   * the others, and its gradients become their means too. In the end all ranks take over the values
   * of the parameters of the rank that had rows for longest. Give the reducer to {@link
   * org.sparkcollectives.join.Join#run} as the first joinable.
   */
  @Override
  public JoinHook joinHook(JoinOptions joinOptions) {
    core.announcement().joinedBy(joinOptions);
    return new JoinHook() {
      @Override
      public void shadowStep(JoinStep joined) {
        core.shadow(joined);
      }

      @Override
      public void afterAllJoined(int lastJoiner) {
        ModelState.broadcast(
            core.group(), parameters.stream().map(Parameter::value).toList(), lastJoiner);
      }
    };
  }

  /**
   * Gives the reducer another group, such as the one that {@link ProcessGroup#shrink} has made
   * after a failure. A collective of that group: called by all of its ranks, and blocks as {@link
   * #create} does. The step under way is given up, and what was accumulated in the memory of the
   * reducer is lost: views are zero and in new memory. The buckets are planned anew, and rebuilt
   * again.
   *
   * @throws IllegalArgumentException on all ranks, as {@link #create}
   * @throws IllegalStateException if the reducer is closed
   */
  public void setProcessGroup(ProcessGroup group) {
    core.requireOpen("setProcessGroup");
    ProcessGroup own = verified(group, parameters, options);
    try {
      byAll(
          own,
          () -> {
            core.release();
            core.use(own);
          });
    } catch (RuntimeException | Error e) {
      own.close();
      throw e;
    }
    core.memory().tellOfRelocation();
  }

  /**
   * Leaves the reducer's own group and frees its memory. Local; waits as {@link ProcessGroup#close}
   * does. Does nothing the second time.
   */
  @Override
  public void close() {
    core.close();
  }
}
