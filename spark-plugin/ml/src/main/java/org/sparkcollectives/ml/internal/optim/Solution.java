package org.sparkcollectives.ml.internal.optim;

import java.io.Serializable;

/**
 * Where a minimisation ended.
 *
 * @param coefficients the last ones
 * @param objectiveHistory the loss at the start and after each iteration
 * @param continuedFrom the iteration whose checkpoint this attempt began with; 0 for the start
 */
public record Solution(double[] coefficients, double[] objectiveHistory, int continuedFrom)
    implements Serializable {}
