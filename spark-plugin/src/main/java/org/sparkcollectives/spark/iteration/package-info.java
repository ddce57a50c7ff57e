/**
 * The functions of a loop that runs as one barrier stage ({@link
 * org.sparkcollectives.spark.IterativeStage}), and its result. The functions can be lambda
 * expressions of Java or Scala. They are serialized with the tasks, as those of an RDD are. {@link
 * org.sparkcollectives.spark.iteration.RankOrderSum} is for loops that you write yourself.
 */
package org.sparkcollectives.spark.iteration;
