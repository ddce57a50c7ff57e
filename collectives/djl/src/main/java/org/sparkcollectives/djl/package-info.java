/**
 * Data-parallel training of models of the Deep Java Library (DJL), with a rank in each task of a
 * barrier stage.
 *
 * <p>{@link org.sparkcollectives.djl.CollectiveOptimizer} makes DJL's own training loop
 * distributed. {@link org.sparkcollectives.djl.RankGradients} lets several ranks of one JVM compute
 * gradients at the same time, and {@link org.sparkcollectives.djl.DjlParameters} gives the memory
 * of a model's parameters and gradients to a reducer.
 */
package org.sparkcollectives.djl;
