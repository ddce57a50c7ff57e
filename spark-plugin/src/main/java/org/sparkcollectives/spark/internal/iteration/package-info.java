/**
 * The loop that each rank of an iterative stage runs.
 *
 * <p>{@link org.sparkcollectives.spark.internal.iteration.IterationLoop} alternates between the
 * user's functions and two steps of communication: {@link
 * org.sparkcollectives.spark.iteration.RankOrderSum} adds up at rank 0, and {@link
 * org.sparkcollectives.spark.internal.iteration.StateBroadcast} gives all ranks the next state.
 */
package org.sparkcollectives.spark.internal.iteration;
