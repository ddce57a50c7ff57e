package org.sparkcollectives.ml.internal.gradient;

import java.io.Serializable;
import org.sparkcollectives.ml.internal.optim.Solution;
import org.sparkcollectives.ml.internal.rows.Statistics;

/**
 * What rank 0 returns of a fit.
 *
 * @param statistics of the rows
 * @param solution null if there is none
 * @param refusal why there is none; null if there is one
 */
record Outcome(Statistics statistics, Solution solution, String refusal) implements Serializable {}
