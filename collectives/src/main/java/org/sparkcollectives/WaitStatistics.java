package org.sparkcollectives;

import java.io.Serializable;

/**
 * Sums up how long threads of one rank have waited in {@link Work#await()} for operations of one
 * kind, since the group was made: c10d's wait counters. A wait for an operation that had ended
 * already is none. A thread that waits may carry out the operation itself meanwhile, and that is
 * part of the wait.
 *
 * @param operation the kind of the operations that were waited for
 * @param count how many waits have ended, those that ended before the operation did included
 * @param seconds how long they took together; threads that wait at the same time count each
 * @param longestSeconds how long the longest took
 */
public record WaitStatistics(OpType operation, long count, double seconds, double longestSeconds)
    implements Serializable {}
