/**
 * Process groups for the tasks of Spark's barrier stages. Each task is a rank.
 *
 * <ul>
 *   <li>{@link org.sparkcollectives.spark.CollectivesPlugin} is the class that {@code
 *       spark.plugins} names.
 *   <li>{@link org.sparkcollectives.spark.BarrierStage} runs a function on all ranks, from Java or
 *       Scala. In Scala, {@code rdd.barrier().mapPartitions} with {@link
 *       org.sparkcollectives.spark.SparkCollectives#world} does, too.
 *   <li>{@link org.sparkcollectives.spark.IterativeStage} runs a loop of broadcast and {@code
 *       treeAggregate} as one stage.
 *   <li>{@link org.sparkcollectives.spark.SparkCollectives} also asks running ranks what they do.
 * </ul>
 *
 * The operations themselves, such as {@code allReduce}, are methods of {@link
 * org.sparkcollectives.ProcessGroup}.
 */
package org.sparkcollectives.spark;
