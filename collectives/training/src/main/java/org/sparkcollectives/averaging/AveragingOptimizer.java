package org.sparkcollectives.averaging;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.zero.LocalOptimizer;

/**
 * Lets an optimizer make each step on this rank alone, and an averager bring the ranks together in
 * some of them: c10d's {@code PostLocalSGDOptimizer}. Its state has the averager's count of steps,
 * so that training that goes on from a checkpoint averages in the same steps.
 *
 * <p>Not for use by several threads at once.
 */
public final class AveragingOptimizer {

  private static final String STEP = "step";

  private final LocalOptimizer local;
  private final ModelAverager averager;
  private final List<Tensor> values;

  /**
   * Creates an optimizer. Local.
   *
   * @param local makes the steps
   * @param averager averages after them
   * @param values the values of all parameters
   */
  public AveragingOptimizer(LocalOptimizer local, ModelAverager averager, List<Tensor> values) {
    this.local = local;
    this.averager = averager;
    this.values = List.copyOf(values);
  }

  /**
   * Updates the parameters that have a gradient, and averages these if the averager's step is due.
   * Blocks in those steps only, see {@link ModelAverager#average(List, BitSet)}.
   *
   * <p>If the local optimizer throws on a rank, the averager's groups are aborted with that as
   * cause, because the ranks no longer count the same steps.
   *
   * @param gradients one for each parameter; null for a parameter without one, on all ranks alike
   * @return whether the parameters were averaged
   * @throws IllegalArgumentException if there are not as many gradients as parameters
   */
  public boolean step(List<Tensor> gradients) {
    if (gradients.size() != values.size()) {
      throw new IllegalArgumentException(
          gradients.size() + " gradients are given for " + values.size() + " parameters");
    }
    return averager.average(values, stepped(gradients));
  }

  private BitSet stepped(List<Tensor> gradients) {
    BitSet stepped = new BitSet();
    try {
      for (int i = 0; i < values.size(); i++) {
        Tensor gradient = gradients.get(i);
        if (gradient != null) {
          local.step(i, values.get(i), gradient);
          stepped.set(i);
        }
      }
    } catch (Throwable e) { // Also checked exceptions, which Scala does not declare.
      averager.abort(e);
      throw e;
    }
    return stepped;
  }

  /**
   * Returns the state: the averager's {@code step}, and the local optimizer's, whose names begin
   * with the position of the parameter and a dot. The tensors of the local optimizer are its own.
   */
  public Map<String, Tensor> state() {
    Map<String, Tensor> state = new LinkedHashMap<>();
    state.put(STEP, Tensor.of(averager.step()));
    for (int i = 0; i < values.size(); i++) {
      String prefix = i + ".";
      local.state(i).forEach((name, tensor) -> state.put(prefix + name, tensor));
    }
    return state;
  }

  /**
   * Goes on from what {@link #state} has returned. Local: every rank calls it.
   *
   * @throws IllegalArgumentException if that is not such a state
   */
  public void restore(Map<String, Tensor> state) {
    Tensor step = state.get(STEP);
    if (step == null || step.dtype() != DType.INT64 || step.count() != 1) {
      throw new IllegalArgumentException(
          "The state needs the averager's step, one int64, and has "
              + (step == null ? "none" : step));
    }
    for (int i = 0; i < values.size(); i++) {
      local.restore(i, ofParameter(state, i + "."));
    }
    long[] steps = new long[1];
    step.copyTo(steps);
    averager.setStep(steps[0]);
  }

  private static Map<String, Tensor> ofParameter(Map<String, Tensor> state, String prefix) {
    Map<String, Tensor> parts = new LinkedHashMap<>();
    state.forEach(
        (name, tensor) -> {
          if (name.startsWith(prefix)) {
            parts.put(name.substring(prefix.length()), tensor);
          }
        });
    return parts;
  }
}
