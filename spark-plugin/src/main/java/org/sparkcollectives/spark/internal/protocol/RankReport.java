package org.sparkcollectives.spark.internal.protocol;

import java.util.Optional;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupStatistics;

/**
 * What an executor reports of a rank in a group.
 *
 * @param stage the attempt that its task belongs to
 * @param taskAttemptId its task
 * @param ended whether the rank has left the group; then this is its last report
 * @param failure with what the group has failed, as far as the rank knows
 * @param statistics its operations so far
 */
public record RankReport(
    StageAttempt stage,
    long taskAttemptId,
    boolean ended,
    Optional<Failure> failure,
    GroupStatistics statistics) {}
