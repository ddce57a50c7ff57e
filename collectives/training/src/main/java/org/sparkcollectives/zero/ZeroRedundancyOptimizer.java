package org.sparkcollectives.zero;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.ddp.CommHook;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.ddp.PostLocalSgd;
import org.sparkcollectives.join.Join;
import org.sparkcollectives.join.JoinHook;
import org.sparkcollectives.join.JoinOptions;
import org.sparkcollectives.join.JoinStep;
import org.sparkcollectives.join.Joinable;
import org.sparkcollectives.spi.CallCheck;

/**
 * Shards the state of an optimizer among the ranks of a group: each rank keeps the state of the
 * parameters that it owns, updates them, and sends their new values to all. With n ranks a rank
 * keeps about 1/n of the state. It also keeps a buffer as large as the parameters for the values,
 * and another for the gradients where it averages them. c10d's {@code ZeroRedundancyOptimizer}, the
 * first stage of ZeRO (Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion
 * Parameter Models", 2020).
 *
 * <p>By default a step averages the gradients too, each for its owner only. Then a reduce-scatter
 * and an all-gather send as much as one all-reduce does. With {@link
 * ZeroOptions#withAveragedGradients} a step takes gradients that a reducer has averaged for all
 * ranks, and sends the values only. With {@link ZeroOptions#withStepsInHook} the reducer makes the
 * steps, bucket by bucket.
 *
 * <p>All ranks have the same bits after a step. Not for use by several threads at once.
 */
public final class ZeroRedundancyOptimizer implements Joinable {

  private final ProcessGroup group;
  private final List<Parameter> parameters;
  private final LocalOptimizer local;
  private final ZeroOptions options;
  private final ZeroPartition partition;
  private final int[] owned;
  private final StateConsolidation states;
  private final List<OwnedTensors> values = new ArrayList<>();
  private final List<OwnedTensors> gradients = new ArrayList<>();

  private ZeroRedundancyOptimizer(
      ProcessGroup group,
      List<Parameter> parameters,
      LocalOptimizer local,
      ZeroOptions options,
      ZeroPartition partition) {
    this.group = group;
    this.parameters = parameters;
    this.local = local;
    this.options = options;
    this.partition = partition;
    this.owned = partition.ownedBy(group.rank());
    this.states = new StateConsolidation(group, parameters, partition, local);
    if (!options.stepsInHook()) {
      allocate();
    }
  }

  private void allocate() {
    parameters.stream()
        .map(each -> each.value().dtype())
        .distinct()
        .forEach(
            type -> {
              values.add(new OwnedTensors(group, type, parameters, partition));
              if (options.averagedGradients().isEmpty()) {
                gradients.add(new OwnedTensors(group, type, parameters, partition));
              }
            });
  }

  /**
   * Creates an optimizer. A collective: called by all ranks, with the same parameters and options,
   * and blocks until all have come, for the group's timeout at the most. The memory that it takes
   * from the group is freed with the group.
   *
   * @param parameters dense, with different names; all with the same values on all ranks, as {@link
   *     org.sparkcollectives.ddp.ModelState#broadcast} gives them
   * @param local makes the steps of the parameters that this rank owns
   * @throws IllegalArgumentException on all ranks, if the parameters or options are wrong on one,
   *     or differ, or if it is a {@link org.sparkcollectives.ReconfigurableGroup}, whose ranks may
   *     leave with their share of the state
   * @throws IllegalStateException on the ranks that have no room for it
   * @throws org.sparkcollectives.CollectiveException on the other ranks then
   */
  public static ZeroRedundancyOptimizer create(
      ProcessGroup group, List<Parameter> parameters, LocalOptimizer local, ZeroOptions options) {
    CallCheck check = new CallCheck(group, "making of a ZeRO optimizer");
    check.compare(
        () -> {
          ZeroArguments.requireLasting(group);
          Objects.requireNonNull(local, "local");
          List<Parameter> all = List.copyOf(parameters);
          // An optimizer that does not know a parameter says so here, and not in a step.
          IntStream.range(0, all.size()).forEach(local::state);
          return ZeroArguments.describe(
              all, partition(all, options, group.size()), options, group.size());
        });
    List<Parameter> all = List.copyOf(parameters);
    ZeroPartition partition = partition(all, options, group.size());
    ZeroRedundancyOptimizer[] made = new ZeroRedundancyOptimizer[1];
    check.byAll(() -> made[0] = new ZeroRedundancyOptimizer(group, all, local, options, partition));
    return made[0];
  }

  private static ZeroPartition partition(
      List<Parameter> parameters, ZeroOptions options, int ranks) {
    return options
        .partition()
        .orElseGet(
            () ->
                ZeroPartition.greedy(
                    parameters.stream().mapToLong(each -> each.value().count()).toArray(), ranks));
  }

  /** Returns which rank owns which parameter. */
  public ZeroPartition partition() {
    return partition;
  }

  /**
   * Returns where the engine adds the gradient of a parameter: the one that the parameter came
   * with, or else a part of the memory that is reduced. {@link #step} leaves the mean on the owner
   * alone, if at all, and does not set the gradient to zero: do so before the next backward pass.
   *
   * @throws IllegalStateException if the gradients are averaged elsewhere, see {@link
   *     ZeroOptions#withAveragedGradients} and {@link ZeroOptions#withStepsInHook}
   */
  public Tensor gradient(int parameter) {
    if (gradients.isEmpty()) {
      throw new IllegalStateException(
          "The gradients are averaged elsewhere: "
              + (options.stepsInHook()
                  ? "by the reducer of hook()"
                  : "by what withAveragedGradients has given"));
    }
    Tensor given = parameters.get(parameter).gradient();
    return given == null ? view(gradients, parameter) : given;
  }

  private static Tensor view(List<OwnedTensors> byType, int parameter) {
    return byType.stream()
        .map(each -> each.view(parameter))
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow();
  }

  /**
   * Makes a step: averages the gradients unless that is done already, updates the parameters that
   * this rank owns, and sends the new values to all. A collective: blocks until all ranks have
   * come, for the group's timeout at the most.
   *
   * <p>If the local optimizer throws on a rank, the group is aborted with that as cause, because
   * the ranks no longer have the same values.
   *
   * @throws IllegalStateException if a reducer makes the steps, see {@link
   *     ZeroOptions#withStepsInHook}
   */
  public void step() {
    if (options.stepsInHook()) {
      throw new IllegalStateException("The reducer of hook() makes the steps; call its finish()");
    }
    make(Join.notifyStep(this).orElse(null));
  }

  /**
   * Makes a step.
   *
   * @param step of the join that this is in; null if it is in none
   */
  private void make(JoinStep step) {
    averageGradients(step);
    try {
      for (int i : owned) {
        stepOwned(i);
      }
    } catch (Throwable e) { // Also checked exceptions, which Scala does not declare.
      group.abort(e);
      throw e;
    }
    sendValues();
  }

  private void averageGradients(JoinStep step) {
    if (gradients.isEmpty()) {
      return;
    }
    for (int i = 0; i < parameters.size(); i++) {
      Tensor given = parameters.get(i).gradient();
      if (given != null) {
        view(gradients, i).copyFrom(given);
      }
    }
    int divisor = step == null ? group.size() : step.divisor();
    awaitAll(gradients.stream().map(each -> each.beginMean(divisor)).toList());
    gradients.forEach(each -> each.finishMean(divisor));
  }

  private void stepOwned(int parameter) {
    Tensor gradient =
        options
            .averagedGradients()
            .map(each -> Optional.ofNullable(each.apply(parameter)))
            .orElseGet(() -> Optional.of(view(gradients, parameter)))
            .orElse(null);
    Tensor value = parameters.get(parameter).value();
    if (gradient != null) {
      local.step(parameter, value, gradient);
    }
    view(values, parameter).copyFrom(value);
  }

  private void sendValues() {
    awaitAll(values.stream().map(OwnedTensors::gatherFromOwners).toList());
    for (int i = 0; i < parameters.size(); i++) {
      if (partition.owner(i) != group.rank()) {
        parameters.get(i).value().copyFrom(view(values, i));
      }
    }
  }

  private static void awaitAll(List<Work> works) {
    works.forEach(Work::await);
  }

  /**
   * Returns a hook with which a reducer makes the steps, bucket by bucket, while the backward pass
   * goes on: c10d's {@code hook_with_zero_step}. As soon as a bucket is reduced, each rank updates
   * the parameters of it that it owns, and broadcasts them in the reducer's group; the reducer's
   * {@code finish} returns when all ranks have all values.
   *
   * <p>The reducer has the same parameters in the same order, and the ranks of this optimizer's
   * group; the hook serves one reducer. The backward pass must not read a parameter any more when
   * its gradient is ready. Every parameter is updated, an unused one with the mean of what its
   * gradients hold: torch skips it. If the local optimizer throws on a rank, the step fails on all,
   * and the reducer's group ends.
   *
   * <p>A step that fails at its end, because a rank has not marked a parameter or has discarded the
   * step, has updated parameters all the same, on all ranks alike.
   *
   * @param inner reduces the gradients, such as {@link
   *     org.sparkcollectives.ddp.CommHooks#allReduce}. All ranks must get the same from it
   * @throws IllegalArgumentException if {@code inner} gives ranks different results: {@link
   *     PostLocalSgd}
   * @throws IllegalStateException if the options are without {@link ZeroOptions#withStepsInHook}
   */
  public CommHook hook(CommHook inner) {
    if (!options.stepsInHook()) {
      throw new IllegalStateException(
          "This optimizer makes its steps itself; create it with ZeroOptions.withStepsInHook()");
    }
    if (inner instanceof PostLocalSgd) {
      throw new IllegalArgumentException(
          "PostLocalSgd gives each subgroup a mean of its own, of which the broadcast would leave"
              + " the owner's; choose a hook that gives all ranks the same");
    }
    return new StepAndBroadcast(inner, parameters, partition, local, group);
  }

  /**
   * Brings the state of all parameters to one rank. A collective: blocks until the root has all,
   * for some of the group's timeouts at the most. The root needs memory for the whole state, the
   * others for a copy of their own share.
   *
   * @param root the rank that gets it
   * @return at the root the state, which does not change with later steps; elsewhere empty
   * @throws IllegalArgumentException on all ranks, if they name different roots or one that cannot
   *     be, or if an optimizer throws it
   */
  public Optional<ZeroState> consolidate(int root) {
    return states.consolidate(root);
  }

  /**
   * Goes on from a state that {@link #consolidate} has returned, perhaps in a group of another
   * size: sends each rank the state of the parameters that it owns now. The values of the
   * parameters stay as they are. A collective: blocks until all ranks have their share, for some of
   * the group's timeouts at the most.
   *
   * @param state at the root the state of the same parameters, by their names; elsewhere empty
   * @param root the rank that has it
   * @throws IllegalArgumentException on all ranks, if they name different roots, if the arguments
   *     of one are wrong, or if an optimizer does not take the state; then what the optimizers of
   *     the ranks hold is undefined
   */
  public void restore(Optional<ZeroState> state, int root) {
    states.restore(state, root);
  }

  @Override
  public ProcessGroup processGroup() {
    return group;
  }

  /**
   * Returns what this rank does once it has run out of rows: it takes part in the averaging with
   * zeros, and makes the steps of the parameters that it owns.
   *
   * @throws IllegalStateException if a reducer makes the steps, see {@link
   *     ZeroOptions#withStepsInHook}: then the reducer alone is joined
   */
  @Override
  public JoinHook joinHook(JoinOptions joinOptions) {
    if (options.stepsInHook()) {
      throw new IllegalStateException(
          "The reducer of hook() makes the steps; give Join.run the reducer without this"
              + " optimizer");
    }
    return new JoinHook() {
      @Override
      public void shadowStep(JoinStep step) {
        for (int i = 0; i < parameters.size() && !gradients.isEmpty(); i++) {
          setZero(gradient(i));
        }
        make(step);
      }

      @Override
      public void afterAllJoined(int lastJoiner) {
        // All ranks have the same values after each step, and each the state of its own.
      }
    };
  }

  private static void setZero(Tensor tensor) {
    tensor.copyFrom(StateParts.zeros(tensor));
  }
}
