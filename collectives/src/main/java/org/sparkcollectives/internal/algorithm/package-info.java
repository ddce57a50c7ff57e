/**
 * The algorithms of all collectives, their costs, and the table from which one is chosen.
 *
 * <p>{@link org.sparkcollectives.internal.algorithm.AlgorithmTable} lists them with the conditions
 * under which each can run; {@link org.sparkcollectives.internal.algorithm.AlgorithmSelector} takes
 * the one with the lowest cost.
 */
package org.sparkcollectives.internal.algorithm;
