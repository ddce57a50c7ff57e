/**
 * Process groups for the tasks of Spark's barrier stages.
 *
 * <p>A task in Java or Scala asks {@link org.sparkcollectives.spark.SparkCollectives#world} for its
 * group; {@link org.sparkcollectives.spark.BarrierStage} runs such tasks from Java. {@link
 * org.sparkcollectives.spark.CollectivesPlugin} is what {@code spark.plugins} names.
 */
package org.sparkcollectives.spark;
