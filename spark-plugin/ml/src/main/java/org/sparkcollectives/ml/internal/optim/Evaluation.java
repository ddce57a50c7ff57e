package org.sparkcollectives.ml.internal.optim;

/**
 * A loss and its gradient at one point.
 *
 * @param loss the loss
 * @param gradient its derivative by each coefficient
 */
record Evaluation(double loss, double[] gradient) {}
