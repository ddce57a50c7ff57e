package org.sparkcollectives.spark.event;

/**
 * Sums up what a rank of a group has done since the group was made.
 *
 * @param rank the rank
 * @param operations how many operations have succeeded on it
 * @param bytes their bytes
 * @param lastArrivals in how many of the compared operations it arrived last
 * @param awaitedMillis how long the median rank waited for it in these
 * @param slowness by how much its own code took longer than that of the median rank, over the
 *     newest of these: 0.1 is a tenth more
 * @param straggler whether it is certainly slower
 * @param insideMillis how long at least one operation was pending
 * @param outsideMillis how long none was pending, between the first operation and the last one
 */
public record RankSums(
    int rank,
    long operations,
    long bytes,
    long lastArrivals,
    long awaitedMillis,
    double slowness,
    boolean straggler,
    long insideMillis,
    long outsideMillis) {}
