package org.sparkcollectives.spark.internal.iteration;

import java.io.Serializable;
import org.sparkcollectives.spark.iteration.Contribution;
import org.sparkcollectives.spark.iteration.LossFunction;
import org.sparkcollectives.spark.iteration.StateUpdate;
import org.sparkcollectives.spark.iteration.StopCondition;

/**
 * The user's functions.
 *
 * @param stop null if only the number of iterations ends the loop
 * @param loss null if there is none
 */
public record IterationFunctions<S, D>(
    Contribution<S, D> contribution,
    StateUpdate<S> update,
    StopCondition<S> stop,
    LossFunction<S> loss)
    implements Serializable {}
