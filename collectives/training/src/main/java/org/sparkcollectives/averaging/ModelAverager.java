package org.sparkcollectives.averaging;

import java.util.BitSet;
import java.util.List;
import org.sparkcollectives.Tensor;

/**
 * Averages the parameters of a model in some of its steps: c10d's {@code ModelAverager}. Each rank
 * has one, calls it once in each step, and so all of them count the same steps.
 *
 * <p>Not for use by several threads at once.
 */
public interface ModelAverager {

  /**
   * Averages all parameters if this step is one in which they are averaged, and counts the step.
   *
   * @return whether they were averaged
   * @see #average(List, BitSet)
   */
  default boolean average(List<Tensor> parameters) {
    BitSet all = new BitSet();
    all.set(0, parameters.size());
    return average(parameters, all);
  }

  /**
   * Averages some parameters if this step is one in which they are averaged, and counts the step.
   * Blocks in those steps only: until the ranks of the step's group have come, for the group's
   * timeout at the most. A step whose averaging throws is not counted.
   *
   * @param parameters of the same types and counts in the same order on every rank
   * @param selected the positions of those to average, such as those with a gradient
   * @return whether they were averaged
   * @throws IllegalArgumentException see {@link ParameterAveraging#average}
   */
  boolean average(List<Tensor> parameters, BitSet selected);

  /**
   * Ends the groups over which it averages, so that no rank waits for one that cannot come. Does
   * not block. Does nothing unless an averager overrides it.
   *
   * @param cause what every rank is told
   */
  default void abort(Throwable cause) {}

  /** Returns the number of steps that were counted. */
  long step();

  /**
   * Sets the number of steps that were counted, as when training goes on from a checkpoint.
   *
   * @param step the same on every rank
   * @throws IllegalArgumentException if it is negative
   */
  void setStep(long step);
}
