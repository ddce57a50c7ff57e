package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.join.StepCounts;

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
public final class GradientReducer implements AutoCloseable {

  private final List<Parameter> parameters;
  private final ReducerOptions options;
  private final BucketPlan plan;
  private ProcessGroup group;
  private StepRunner runner;
  private volatile ReducerStep step;
  private boolean forward;
  private int pauses;
  private long steps;
  private int[] readyOrder;
  private boolean rebuilt;
  private double weight = Double.NaN;
  private StepCounts counts;
  private boolean closed;

  private GradientReducer(List<Parameter> parameters, ReducerOptions options) {
    this.parameters = List.copyOf(parameters);
    this.options = options;
    this.plan = BucketPlan.of(options, parameters);
  }

  /**
   * Creates a reducer. A collective: called by all ranks of the group with the same parameters and
   * options, which it compares. It makes a group of its own of the same ranks, so that its
   * collectives do not mix with those of the caller. Blocks until all ranks have called it, for the
   * group's timeout at the most.
   *
   * @throws IllegalArgumentException on all ranks, if they gave different parameters or options,
   *     with the first difference; or if there is no parameter, or one is of an integer type
   */
  public static GradientReducer create(
      ProcessGroup group, List<Parameter> parameters, ReducerOptions options) {
    Objects.requireNonNull(options, "options");
    ProcessGroup own = ownGroup(group);
    try {
      ReducerArguments.verify(own, parameters, options);
      GradientReducer reducer = new GradientReducer(parameters, options);
      reducer.use(own);
      reducer.runner.memory().adopt();
      return reducer;
    } catch (RuntimeException | Error e) {
      own.close();
      throw e;
    }
  }

  private static ProcessGroup ownGroup(ProcessGroup group) {
    return group.newGroup(GroupOptions.defaults().withDescription("reducer of gradients"));
  }

  private void use(ProcessGroup own) {
    group = own;
    runner = new StepRunner(own, parameters, options);
    runner.memory().arrange(plan.first());
    step = null;
    forward = false;
    readyOrder = null;
    rebuilt = false;
    counts = null;
  }

  /**
   * Returns where the engine adds a parameter's gradient, and where the mean is after {@link
   * #finish}. Where it is a view of its bucket, it moves once, at the beginning of the second
   * synchronised step, with what it holds; see {@link ReducerOptions#withRelocation}.
   *
   * @throws IllegalArgumentException if there is no such parameter, or its gradients are sparse
   */
  public Tensor gradient(int parameter) {
    requireKind(parameter, false, "gradient");
    return runner.memory().gradient(parameter);
  }

  /**
   * Returns the mean of a sparse gradient after {@link #finish}: each index once, in ascending
   * order; null before the first step, and if no rank has used the parameter.
   *
   * @throws IllegalArgumentException if there is no such parameter, or its gradients are dense
   */
  public SparseTensor sparseGradient(int parameter) {
    requireKind(parameter, true, "sparseGradient");
    return runner.sparseMean(parameter);
  }

  /**
   * Begins a step. Once, after the first synchronised step, it lays the buckets anew in the order in
   * which rank 0 marked its parameters; only then it waits for the other ranks, for the group's
   * timeout at the most.
   *
   * @throws IllegalStateException if a step is under way
   */
  public void beginForward() {
    requireNoStep("beginForward");
    if (options.weightedMean()) {
      if (counts != null) {
        throw new IllegalStateException(
            "beginForward was called twice before beginBackward on "
                + rank()
                + "; with a weighted mean each forward pass has a backward pass");
      }
      counts =
          StepCounts.begin(group, true, pauses == 0, Double.isNaN(weight) ? 0 : weight);
    }
    rebuildIfDue();
    forward = true;
  }

  private void rebuildIfDue() {
    if (readyOrder == null || rebuilt) {
      return;
    }
    int[] order = plan.complete(readyOrder);
    group.broadcast(Tensor.of(order), 0).await();
    runner.memory().arrange(plan.inOrder(order));
    rebuilt = true;
  }

  /** Begins the backward pass of a step, in which every parameter is expected. */
  public void beginBackward() {
    beginBackward(new BitSet());
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
    requireNoStep("beginBackward");
    if (!unused.isEmpty() && !options.findUnused()) {
      throw new IllegalArgumentException(
          "Parameters "
              + unused
              + " cannot be unused on "
              + rank()
              + " without ReducerOptions.withFindUnused(true)");
    }
    if (!unused.isEmpty()) {
      requireParameter(unused.length() - 1, "beginBackward");
    }
    if (!forward) {
      beginForward();
    }
    ReducerStep begun =
        new ReducerStep(steps, parameters.size(), pauses == 0 ? mean(weight) : null);
    if (options.weightedMean() && Double.isNaN(weight)) {
      begun.fail("has not called setWeight before the step");
    }
    runner.begin(begun, unused);
    step = begun;
  }

  private GradientMean mean(double rows) {
    return options.weightedMean()
        ? GradientMean.overRows(group.size(), Double.isNaN(rows) ? 0 : rows, counts)
        : GradientMean.overRanks(group.size());
  }

  /**
   * Says that a parameter's gradient is complete. It must not be changed until {@link #finish} has
   * returned. Begins the reduction of buckets that are complete by that, and never waits for another
   * rank. May be called by any thread.
   *
   * @throws IllegalArgumentException if there is no such parameter, or its gradients are sparse
   * @throws IllegalStateException outside of a backward pass, or if it was marked before in this
   *     step; then {@link #finish} throws on all ranks
   */
  public void markReady(int parameter) {
    requireKind(parameter, false, "markReady");
    runner.mark(requireStep("markReady"), parameter);
  }

  /**
   * Says that a parameter's sparse gradient is complete; see {@link #markReady(int)}. In steps
   * without synchronisation gradients add up.
   *
   * @param gradient of the type and shape of the parameter, with one sparse dimension: rows, each
   *     with its index; the same index may be in it more than once
   * @throws IllegalArgumentException if there is no such parameter, its gradients are dense, or this
   *     one has another type or shape
   */
  public void markReady(int parameter, SparseTensor gradient) {
    requireKind(parameter, true, "markReady with a sparse tensor");
    Tensor value = parameters.get(parameter).value();
    if (gradient.values().dtype() != value.dtype()
        || gradient.sparseDimensions() != 1
        || !Arrays.equals(gradient.shape(), value.shape())) {
      throw new IllegalArgumentException(
          "The gradient "
              + gradient
              + " with "
              + gradient.sparseDimensions()
              + " sparse dimensions does not fit to "
              + runner.failure().named(parameter)
              + ", "
              + value
              + ", on "
              + rank()
              + ": it needs the same type and shape and 1 sparse dimension");
    }
    runner.mark(requireStep("markReady"), parameter, gradient);
  }

  /**
   * Ends the step: waits until the gradients of all ranks are averaged, for the group's timeout at
   * the most.
   *
   * @throws IllegalStateException on all ranks, if one of them did not mark all parameters, marked
   *     one twice, or discarded the step; or outside of a backward pass
   */
  public void finish() {
    end(requireStep("finish"));
  }

  private void end(ReducerStep ended) {
    boolean fixed = runner.used().isFixed();
    try {
      runner.finish(ended, true);
    } finally {
      step = null;
      forward = false;
      counts = null;
      weight = Double.NaN;
    }
    if (ended.synchronises()) {
      steps++;
      if (plan.willBeRebuilt() && readyOrder == null && (fixed || !options.staticGraph())) {
        readyOrder = ended.readyOrder();
      }
    }
  }

  /**
   * Ends the step where the engine threw an exception, in place of {@link #finish}. {@link #finish}
   * then throws on the other ranks, and nothing is averaged. Takes as long as {@link #finish} would.
   *
   * @throws IllegalStateException if no step was begun
   */
  public void discardStep() {
    if (step == null) {
      if (!forward) {
        requireStep("discardStep");
      }
      beginBackward();
    }
    ReducerStep discarded = step;
    discarded.fail("discarded the step");
    try {
      end(discarded);
    } catch (IllegalStateException e) {
      if (!e.getMessage().contains("discarded the step")) {
        throw e;
      }
    }
  }

  /**
   * Makes one step for an engine that has all gradients at once: begins it, marks all dense
   * parameters from the last to the first, and finishes it. Blocks as {@link #finish} does.
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
   * Begins a block of steps whose gradients stay on their rank and add up, until it is closed. What
   * counts is where {@link #beginBackward()} is called. All ranks do the same. DDP's {@code
   * no_sync}.
   */
  public NoSync noSync() {
    pauses++;
    return new NoSync(() -> pauses--);
  }

  /**
   * Says how many rows this rank has in the coming step, before {@link #beginForward}; the mean is
   * then over the rows of all ranks, whatever their distribution. The gradients of each rank are
   * those of the mean over its own rows. Needed in each step.
   *
   * @param rows 0 or more, also fractions; if all ranks have 0, the gradients are 0
   * @throws IllegalArgumentException if it is negative or not finite
   * @throws IllegalStateException without {@link ReducerOptions#withWeightedMean}
   */
  public void setWeight(double rows) {
    if (!(rows >= 0) || Double.isInfinite(rows)) {
      throw new IllegalArgumentException(
          "A step has 0 rows or more, not " + rows + ", on " + rank());
    }
    if (!options.weightedMean()) {
      throw new IllegalStateException(
          "setWeight on " + rank() + " needs ReducerOptions.withWeightedMean(true)");
    }
    requireNoStep("setWeight");
    weight = rows;
  }

  /** Returns the buckets in their order, as they are until the next {@link #beginForward}. */
  public List<GradientBucket> buckets() {
    return List.copyOf(runner.memory().buckets());
  }

  /**
   * Gives the reducer another group, such as the one that {@link ProcessGroup#shrink} has made after
   * a failure. A collective of that group: called by all of its ranks, and blocks as {@link #create}
   * does. The step under way is forgotten, with all that was accumulated in the memory of the
   * reducer: views are zero. The buckets are planned anew, and rebuilt again.
   */
  public void setProcessGroup(ProcessGroup other) {
    ProcessGroup own = ownGroup(other);
    try {
      ReducerArguments.verify(own, parameters, options);
    } catch (RuntimeException | Error e) {
      own.close();
      throw e;
    }
    release();
    use(own);
  }

  /** Leaves the reducer's own group and frees its memory. Local, and does nothing the second time. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      step = null;
      release();
    }
  }

  private void release() {
    runner.close();
    group.close();
  }

  private ReducerStep requireStep(String operation) {
    ReducerStep current = step;
    if (current == null) {
      throw new IllegalStateException(
          operation
              + " on "
              + rank()
              + (closed ? ": the reducer is closed" : " needs a step: call beginBackward first"));
    }
    return current;
  }

  private void requireNoStep(String operation) {
    if (closed || step != null) {
      throw new IllegalStateException(
          operation
              + " on "
              + rank()
              + (closed
                  ? ": the reducer is closed"
                  : " during a step: call finish or discardStep first"));
    }
  }

  private void requireKind(int parameter, boolean sparse, String operation) {
    requireParameter(parameter, operation);
    if (parameters.get(parameter).sparse() != sparse) {
      throw new IllegalArgumentException(
          operation
              + " on "
              + rank()
              + " is not for "
              + runner.failure().named(parameter)
              + ", whose gradients are "
              + (sparse ? "dense" : "sparse"));
    }
  }

  private void requireParameter(int parameter, String operation) {
    if (parameter < 0 || parameter >= parameters.size()) {
      throw new IllegalArgumentException(
          operation
              + " on "
              + rank()
              + ": there is no parameter "
              + parameter
              + ", only 0 to "
              + (parameters.size() - 1));
    }
  }

  private String rank() {
    return "rank " + group.rank() + " of group \"" + group.name() + "\"";
  }
}
