/**
 * The executor's part: makes a barrier task a rank.
 *
 * <p>{@link org.sparkcollectives.spark.internal.executor.TaskWorlds} has the group of each task,
 * which {@code WorldGroup} creates. {@code TaskRank} tells the group about its task. {@link
 * org.sparkcollectives.spark.internal.executor.DriverStoreClient} is the task's handle on the
 * driver's store; where the driver has none, rank 0 serves an {@code ExecutorHostedStore}.
 */
package org.sparkcollectives.spark.internal.executor;
