package org.sparkcollectives.ml.internal.gradient;

import java.io.Serializable;
import org.sparkcollectives.ml.internal.optim.Solution;
import org.sparkcollectives.ml.internal.rows.Statistics;

/**
 * The result of a fit, which rank 0 returns to the driver.
 *
 * @param statistics of the rows
 * @param solution the coefficients; null if Spark's own fit has to be used
 * @param fallbackReason why it has to be used; null if there is a solution
 */
record FitResult(Statistics statistics, Solution solution, String fallbackReason)
    implements Serializable {}
