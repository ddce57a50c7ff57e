/**
 * The functions of a loop that runs as one barrier stage, and its result. Lambda expressions of
 * Java and Scala will do for the functions. They are serialized with the tasks, as those of an RDD
 * are. {@link org.sparkcollectives.spark.iteration.RankOrderSum} is for loops of one's own.
 */
package org.sparkcollectives.spark.iteration;
