package org.sparkcollectives.spark.internal.driver;

/**
 * The failure of a group.
 *
 * @param group the group's name
 * @param stage the stage whose tasks are its ranks
 * @param attempt the attempt of the stage
 * @param timeMillis when the driver has learnt of it, since the epoch
 * @param rank the rank that failed first, in the group
 * @param host the address of that rank
 * @param executorId its executor
 * @param kind the name of the {@link org.sparkcollectives.Failure.Kind}
 * @param text what is known of the cause, with its stack trace where there is one
 * @param dump the folder with the dumps of the flight recorders; empty if there is none so far
 * @param finding what the dumps tell; empty if they tell nothing, or have not been analysed
 */
public record GroupFailure(
    String group,
    int stage,
    int attempt,
    long timeMillis,
    int rank,
    String host,
    String executorId,
    String kind,
    String text,
    String dump,
    String finding) {}
