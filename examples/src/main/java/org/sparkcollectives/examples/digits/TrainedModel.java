package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * The result that rank 0 returns: the parameters, the course of the epochs, the duration of a step,
 * and how many epochs were computed by an earlier attempt.
 */
final class TrainedModel implements Serializable {

  private static final long serialVersionUID = 1;

  private final double[] parameters;
  private final double[] losses;
  private final double[] accuracies;
  private final double medianStepMillis;
  private final double medianAllReduceMillis;
  private final int steps;
  private final int restoredEpochs;

  TrainedModel(
      double[] parameters,
      double[] losses,
      double[] accuracies,
      double medianStepMillis,
      double medianAllReduceMillis,
      int steps,
      int restoredEpochs) {
    this.parameters = parameters;
    this.losses = losses;
    this.accuracies = accuracies;
    this.medianStepMillis = medianStepMillis;
    this.medianAllReduceMillis = medianAllReduceMillis;
    this.steps = steps;
    this.restoredEpochs = restoredEpochs;
  }

  double[] parameters() {
    return parameters;
  }

  /** Returns by how much a parameter of another model differs from this one's at the most. */
  double largestDifference(TrainedModel other) {
    double largest = 0;
    for (int i = 0; i < parameters.length; i++) {
      largest = Math.max(largest, Math.abs(parameters[i] - other.parameters[i]));
    }
    return largest;
  }

  /** Returns all epochs, including those of earlier attempts. */
  List<Epoch> course() {
    List<Epoch> course = new ArrayList<>(losses.length);
    for (int i = 0; i < losses.length; i++) {
      course.add(new Epoch(i + 1, losses[i], accuracies[i]));
    }
    return course;
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

  /** Returns the epoch after which this attempt continued; 0 if it began at the beginning. */
  int restoredEpochs() {
    return restoredEpochs;
  }
}
