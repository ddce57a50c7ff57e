package org.sparkcollectives.zero;

/**
 * The factors of Adam; immutable. The defaults and formulas are those of {@code torch.optim.Adam},
 * whose names are in brackets.
 *
 * @param learningRate the size of a step ({@code lr})
 * @param beta1 which share of the mean gradient is kept in a step, from 0 to below 1 ({@code
 *     betas[0]})
 * @param beta2 which share of the mean squared gradient is kept in a step, from 0 to below 1
 *     ({@code betas[1]})
 * @param epsilon what is added to the root of the mean square ({@code eps})
 * @param weightDecay which share of a value is added to its gradient; not the decay of AdamW
 *     ({@code weight_decay})
 */
public record AdamOptions(
    double learningRate, double beta1, double beta2, double epsilon, double weightDecay) {

  /** Creates options. */
  public AdamOptions {
    Numbers.requireNotNegative("learning rate", learningRate);
    Numbers.requireNotNegative("epsilon", epsilon);
    Numbers.requireNotNegative("weight decay", weightDecay);
    Numbers.requireShare("beta1", beta1);
    Numbers.requireShare("beta2", beta2);
  }

  /** Creates options with the defaults of {@code torch.optim.Adam}. */
  public AdamOptions() {
    this(1e-3, 0.9, 0.999, 1e-8, 0);
  }

  /** Returns these options with another learning rate. */
  public AdamOptions withLearningRate(double rate) {
    return new AdamOptions(rate, beta1, beta2, epsilon, weightDecay);
  }

  /** Returns these options with other shares of what is kept in a step. */
  public AdamOptions withBetas(double first, double second) {
    return new AdamOptions(learningRate, first, second, epsilon, weightDecay);
  }

  /** Returns these options with another epsilon. */
  public AdamOptions withEpsilon(double added) {
    return new AdamOptions(learningRate, beta1, beta2, added, weightDecay);
  }

  /** Returns these options with a weight decay. */
  public AdamOptions withWeightDecay(double share) {
    return new AdamOptions(learningRate, beta1, beta2, epsilon, share);
  }
}
