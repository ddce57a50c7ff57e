package org.sparkcollectives.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.training.GradientCollector;
import java.util.List;

/**
 * Collects the gradients of one thread, so that several ranks of one JVM can train at the same
 * time, each with a model of its own.
 *
 * <p>DJL's own collector exists once in a JVM: while one rank collects, a second one of the same
 * executor gets an exception. A trainer uses this one instead, and then {@code EasyTrain} does:
 *
 * <pre>{@code
 * Trainer trainer = new Trainer(model, config) {
 *   @Override
 *   public GradientCollector newGradientCollector() {
 *     return RankGradients.open(model.getBlock());
 *   }
 * };
 * }</pre>
 *
 * <p>While it is open, what its thread computes is recorded for the backward pass; afterwards it is
 * as before. It belongs to the thread that opened it, never waits, and works with DJL's engine for
 * PyTorch, version 0.35.1. Gradients are added to those that a parameter has; DJL's optimizers set
 * them to zero when they have used them.
 */
public final class RankGradients implements GradientCollector {

  private final PyTorchAutograd autograd;
  private final List<TrainedParameter> parameters;
  private final Thread thread = Thread.currentThread();
  private final boolean before;
  private boolean open = true;

  private RankGradients(PyTorchAutograd autograd, List<TrainedParameter> parameters) {
    this.autograd = autograd;
    this.parameters = parameters;
    before = autograd.isOn();
    autograd.turn(true);
  }

  /**
   * Begins to record what this thread computes.
   *
   * @param block the initialized model of this rank
   * @throws IllegalArgumentException if a parameter of the block is not initialized, none is
   *     trained, or the engine is not PyTorch
   */
  public static RankGradients open(Block block) {
    return open(TrainedParameter.of(block));
  }

  static RankGradients open(List<TrainedParameter> parameters) {
    return new RankGradients(PyTorchAutograd.of(parameters.get(0).engine()), parameters);
  }

  /**
   * Adds the gradients of the sum of {@code loss} to those of all parameters that it was computed
   * from since this was opened. It can be called once for a loss.
   *
   * @throws IllegalStateException if this is closed, or another thread opened it
   */
  @Override
  public void backward(NDArray loss) {
    check("backward");
    autograd.backward(loss);
  }

  /**
   * Sets the gradients of the block's trained parameters to zero, also where they are not finite.
   * The gradients of other ranks of this JVM stay.
   *
   * @throws IllegalStateException if this is closed, or another thread opened it
   */
  @Override
  public void zeroGradients() {
    check("zeroGradients");
    parameters.forEach(parameter -> autograd.zero(parameter.array()));
  }

  /**
   * Stops recording, unless this thread recorded before. Closing twice does nothing.
   *
   * @throws IllegalStateException if another thread opened this
   */
  @Override
  public void close() {
    if (open) {
      check("close");
      open = false;
      autograd.turn(before);
    }
  }

  private void check(String operation) {
    if (Thread.currentThread() != thread) {
      throw new IllegalStateException(
          "%s by the thread %s of gradients that the thread %s opened; open them where they are used"
              .formatted(operation, Thread.currentThread().getName(), thread.getName()));
    }
    if (!open) {
      throw new IllegalStateException(operation + " after the gradients were closed");
    }
  }
}
