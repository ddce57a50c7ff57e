package org.sparkcollectives.spark.internal.iteration;

import java.io.Serializable;
import java.util.List;

/**
 * What rank 0 needs to go on after an iteration.
 *
 * @param iteration the last one that is done
 * @param losses of all iterations that are done, or none
 */
record Snapshot<S>(int iteration, S state, List<Double> losses) implements Serializable {}
