package org.sparkcollectives.zero;

/**
 * The factors of stochastic gradient descent; immutable. The formulas are those of {@code
 * torch.optim.SGD}.
 *
 * @param learningRate the learning rate ({@code lr})
 * @param momentum the momentum factor; 0 for none
 * @param dampening which share of a gradient does not enter the momentum
 * @param weightDecay which share of a value is added to its gradient
 * @param nesterov whether the direction looks ahead by one step of the momentum
 */
public record SgdOptions(
    double learningRate, double momentum, double dampening, double weightDecay, boolean nesterov) {

  /** Creates options. */
  public SgdOptions {
    Numbers.requireNotNegative("learning rate", learningRate);
    Numbers.requireNotNegative("momentum", momentum);
    Numbers.requireNotNegative("weight decay", weightDecay);
    if (nesterov && (momentum == 0 || dampening != 0)) {
      throw new IllegalArgumentException(
          "Nesterov's momentum needs a momentum and no dampening, not the momentum "
              + momentum
              + " and the dampening "
              + dampening);
    }
  }

  /** Creates plain gradient descent with a learning rate. */
  public SgdOptions(double learningRate) {
    this(learningRate, 0, 0, 0, false);
  }

  /** Returns these options with another learning rate. */
  public SgdOptions withLearningRate(double rate) {
    return new SgdOptions(rate, momentum, dampening, weightDecay, nesterov);
  }

  /** Returns these options with a momentum. */
  public SgdOptions withMomentum(double share) {
    return new SgdOptions(learningRate, share, dampening, weightDecay, nesterov);
  }

  /** Returns these options with a dampening of the momentum. */
  public SgdOptions withDampening(double share) {
    return new SgdOptions(learningRate, momentum, share, weightDecay, nesterov);
  }

  /** Returns these options with a weight decay. */
  public SgdOptions withWeightDecay(double share) {
    return new SgdOptions(learningRate, momentum, dampening, share, nesterov);
  }

  /** Returns these options with Nesterov's momentum or without. */
  public SgdOptions withNesterov(boolean ahead) {
    return new SgdOptions(learningRate, momentum, dampening, weightDecay, ahead);
  }
}
