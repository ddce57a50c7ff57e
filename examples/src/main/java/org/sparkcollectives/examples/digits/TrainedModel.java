package org.sparkcollectives.examples.digits;

import java.io.Serializable;

/**
 * What rank 0 returns: the parameters, how long a step took, and how many epochs were not its own.
 */
final class TrainedModel implements Serializable {

  private static final long serialVersionUID = 1;

  private final double[] parameters;
  private final double medianStepMillis;
  private final double medianAllReduceMillis;
  private final int steps;
  private final int restoredEpochs;

  TrainedModel(
      double[] parameters,
      double medianStepMillis,
      double medianAllReduceMillis,
      int steps,
      int restoredEpochs) {
    this.parameters = parameters;
    this.medianStepMillis = medianStepMillis;
    this.medianAllReduceMillis = medianAllReduceMillis;
    this.steps = steps;
    this.restoredEpochs = restoredEpochs;
  }

  double[] parameters() {
    return parameters;
  }

  double medianStepMillis() {
    return medianStepMillis;
  }

  double medianAllReduceMillis() {
    return medianAllReduceMillis;
  }

  int steps() {
    return steps;
  }

  /** After which epoch this attempt went on; 0 if it began at the beginning. */
  int restoredEpochs() {
    return restoredEpochs;
  }
}
