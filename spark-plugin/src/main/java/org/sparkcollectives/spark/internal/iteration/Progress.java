package org.sparkcollectives.spark.internal.iteration;

import java.io.Serializable;
import java.util.List;

/**
 * How far an elastic loop has come: all that its next iteration depends on.
 *
 * @param losses of all iterations that are done, or none
 * @param converged whether there is no next iteration
 */
record Progress<S>(S state, List<Double> losses, boolean converged) implements Serializable {}
