package org.sparkcollectives.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.training.Trainer;
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.listener.TrainingListenerAdapter;
import ai.djl.training.optimizer.Optimizer;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.ReducerOptions;

/**
 * An optimizer that averages the gradients of all ranks before another optimizer uses them, so that
 * {@code EasyTrain.fit}, or any loop that calls {@code Trainer.step()}, trains one model on the
 * rows of all ranks.
 *
 * <pre>{@code
 * block.initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1, features));
 * try (CollectiveOptimizer optimizer =
 *     CollectiveOptimizer.of(world, block, sgd, ReducerOptions.defaults())) {
 *   EasyTrain.fit(
 *       model.newTrainer(new DefaultTrainingConfig(loss).optOptimizer(optimizer)), epochs, data, null);
 * }
 * }</pre>
 *
 * <p>All ranks begin with the values of rank 0 and apply the same gradients, so they have the same
 * bits in each parameter after each step. A step is reduced when the last of its gradients has
 * come, in the order of the block: the trainer gives them in another order on each rank.
 *
 * <p>All ranks make the same number of steps. A rank with fewer batches runs its training in {@link
 * org.sparkcollectives.join.Join#run} with {@link #reducer()}, or calls {@link #stepWithoutRows} as
 * often as it has less. With {@link ReducerOptions#withWeightedMean} the mean is over rows instead
 * of ranks; {@link #rowListener} then counts them.
 *
 * <p>{@code update} blocks with the last gradient of a step until all ranks have come that far, for
 * the group's timeout at the most. Running means of normalization layers stay local to a rank. An
 * instance is used by one thread at a time, trains on the CPU, and works with any engine of DJL.
 */
public final class CollectiveOptimizer extends Optimizer implements AutoCloseable {

  private final Optimizer inner;
  private final List<TrainedParameter> parameters;
  private final BlockMemory memory;
  private final GradientReducer reducer;
  private final boolean weighted;
  private final int rank;
  private final Map<String, Integer> positions = new HashMap<>();
  private final BitSet arrived = new BitSet();
  private boolean stepping;
  private boolean closed;

  private CollectiveOptimizer(
      ProcessGroup group, BlockMemory memory, Optimizer inner, ReducerOptions options) {
    super(new NoSettings());
    this.inner = inner;
    this.memory = memory;
    this.parameters = memory.trained();
    this.weighted = options.weightedMean();
    this.rank = group.rank();
    for (int i = 0; i < parameters.size(); i++) {
      positions.put(parameters.get(i).parameter().getId(), i);
    }
    this.reducer = GradientReducer.create(group, memory.reduced(), options);
  }

  /** The settings of an optimizer that has none: those of the other one count. */
  private static final class NoSettings extends OptimizerBuilder<NoSettings> {
    @Override
    protected NoSettings self() {
      return this;
    }
  }

  /**
   * Creates the optimizer, and gives all ranks the values of rank 0: those of all parameters of the
   * block, frozen ones and running means included. A collective: called by all ranks of the group
   * with equal blocks and the same options. Blocks until all ranks have called it, for the group's
   * timeout at the most.
   *
   * @param block the initialized model; which of its parameters are frozen must not change until
   *     this is closed
   * @param inner decides what a gradient does to a parameter
   * @throws IllegalArgumentException on all ranks, if the block of one has a parameter that is not
   *     initialized, not on the CPU or not of a floating-point type, or none to train; or if the
   *     ranks have different parameters or options
   */
  public static CollectiveOptimizer of(
      ProcessGroup group, Block block, Optimizer inner, ReducerOptions options) {
    Objects.requireNonNull(inner, "inner");
    Objects.requireNonNull(options, "options");
    BlockMemory memory = BlockMemory.onAllRanks(group, block);
    try {
      return new CollectiveOptimizer(group, memory, inner, options);
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
  }

  /**
   * Keeps the gradient of one parameter; with the last one of a step, averages all of them over the
   * ranks, and lets the inner optimizer update each parameter. {@code Trainer.step()} calls it.
   *
   * @throws IllegalStateException on all ranks, if one of them gave a parameter twice before all
   *     others had come, or one that was frozen or missing when this was created, or trains on
   *     several devices; nothing is updated then, and the model keeps the gradients of that step
   */
  @Override
  public void update(String parameterId, NDArray weight, NDArray gradient) {
    if (!stepping) {
      begin();
    }
    try {
      int position = accept(parameterId, weight, gradient);
      memory.copyGradient(position, gradient, reducer.gradient(position));
    } catch (RuntimeException e) {
      discard(e);
      throw e;
    }
    if (arrived.cardinality() == parameters.size()) {
      finish();
    }
  }

  /**
   * Takes part in a step of the other ranks where this one has no rows: as if all its gradients
   * were zero. {@code Trainer.step()} refuses that in its first step. With a weighted mean the step
   * is then the mean over the rows of the others; else it is divided by all ranks, this one too.
   *
   * @throws IllegalStateException as {@link #update}, or during a step
   */
  public void stepWithoutRows() {
    if (stepping) {
      throw new IllegalStateException(
          "stepWithoutRows on rank "
              + rank
              + " during a step: "
              + missing()
              + " are not updated yet");
    }
    if (weighted) {
      reducer.setWeight(0);
    }
    begin();
    for (int i = 0; i < parameters.size(); i++) {
      memory.clear(reducer.gradient(i));
    }
    finish();
  }

  /**
   * Says how many rows this rank has in the coming step; see {@link GradientReducer#setWeight}.
   * Needed in each step with a weighted mean, and refused without.
   */
  public void setWeight(double rows) {
    reducer.setWeight(rows);
  }

  /**
   * Returns a listener that calls {@link #setWeight} with the rows of each batch that {@code
   * EasyTrain} trains on, to be given to {@code DefaultTrainingConfig.addTrainingListeners}. Does
   * nothing without a weighted mean.
   */
  public TrainingListener rowListener() {
    return new TrainingListenerAdapter() {
      @Override
      public void onTrainingBatch(Trainer trainer, BatchData batchData) {
        if (weighted) {
          setWeight(batchData.getBatch().getSize());
        }
      }
    };
  }

  /**
   * Returns the reducer, for hooks, statistics and joins. Its steps are made by this optimizer
   * alone.
   */
  public GradientReducer reducer() {
    return reducer;
  }

  /**
   * Leaves the reducer's group and gives its memory back; nothing of the model is touched any more.
   * Local, and does nothing the second time.
   *
   * @throws IllegalStateException if some parameters of the last step were never updated, which
   *     therefore was not made
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    boolean halfMade = stepping;
    stepping = false;
    reducer.close();
    memory.close();
    if (halfMade) {
      throw new IllegalStateException(
          "The last step on rank "
              + rank
              + " was not made: "
              + missing()
              + " were not updated in it");
    }
  }

  private void begin() {
    if (closed) {
      throw new IllegalStateException("A step on rank " + rank + " after the optimizer was closed");
    }
    reducer.beginForward();
    reducer.beginBackward();
    stepping = true;
    arrived.clear();
  }

  private int accept(String id, NDArray weight, NDArray gradient) {
    Integer position = positions.get(id);
    if (position == null) {
      throw new IllegalStateException(
          "Rank "
              + rank
              + " updates a parameter "
              + weight.getName()
              + " of the shape "
              + weight.getShape()
              + " that was frozen, or not in the block, when its CollectiveOptimizer was created;"
              + " create it after that");
    }
    TrainedParameter parameter = parameters.get(position);
    if (weight != parameter.array()) {
      throw new IllegalStateException(
          "Rank "
              + rank
              + " updates "
              + parameter.name()
              + " on "
              + weight.getDevice()
              + ", which is a copy of the block's on "
              + parameter.array().getDevice()
              + "; train on one device: TrainingConfig.optDevices");
    }
    if (arrived.get(position)) {
      throw new IllegalStateException(
          "Rank "
              + rank
              + " updates "
              + parameter.name()
              + " twice, and in the step before not "
              + missing()
              + "; every parameter that is not frozen needs one update in each step");
    }
    memory.requireFits(position, gradient);
    arrived.set(position);
    return position;
  }

  private void finish() {
    try {
      for (int i = parameters.size() - 1; i >= 0; i--) {
        reducer.markReady(i);
      }
      reducer.finish();
    } finally {
      stepping = false;
    }
    for (int i = 0; i < parameters.size(); i++) {
      memory.update(inner, i, reducer.gradient(i));
    }
  }

  private void discard(RuntimeException reason) {
    stepping = false;
    try {
      reducer.discardStep();
    } catch (RuntimeException e) {
      reason.addSuppressed(e);
    }
  }

  private String missing() {
    return IntStream.range(0, parameters.size())
        .filter(i -> !arrived.get(i))
        .mapToObj(i -> parameters.get(i).name())
        .collect(Collectors.joining(", "));
  }
}
