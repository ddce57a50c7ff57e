package org.sparkcollectives.ml.internal.optim;

import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.ml.feature.InstanceBlock;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.optim.aggregator.DifferentiableLossAggregator;
import org.apache.spark.ml.optim.loss.L2Regularization;

/**
 * What is minimised, and from where.
 *
 * @param aggregator makes Spark's own sum of losses and gradients at some coefficients
 * @param regularization the quadratic penalty
 * @param minimizer which minimises
 * @param start the coefficients at the start
 */
public record Objective(
    Function<Broadcast<Vector>, DifferentiableLossAggregator<InstanceBlock, ?>> aggregator,
    Optional<L2Regularization> regularization,
    Minimizer minimizer,
    double[] start) {}
