package org.sparkcollectives.examples.digits;

import java.io.Serializable;

/** What rank 0 returns: the parameters, and how long a step took. */
final class TrainedModel implements Serializable {

  private static final long serialVersionUID = 1;

  private final double[] parameters;
  private final double medianStepMillis;
  private final double medianAllReduceMillis;
  private final int steps;

  TrainedModel(
      double[] parameters, double medianStepMillis, double medianAllReduceMillis, int steps) {
    this.parameters = parameters;
    this.medianStepMillis = medianStepMillis;
    this.medianAllReduceMillis = medianAllReduceMillis;
    this.steps = steps;
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
}
