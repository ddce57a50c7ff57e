package org.sparkcollectives;

import java.util.List;

/**
 * A group that a rank is or was in, and how far its collectives have come there. Numbers are
 * sequence numbers, -1 before the first.
 *
 * @param name the group's name
 * @param description what the group is for
 * @param ranks the rank in the world of each rank of the group, in the group's order
 * @param lastEnqueued the last collective that was called
 * @param lastStarted the last one that began to run
 * @param lastCompleted the last one that succeeded
 */
public record GroupStatus(
    String name,
    String description,
    List<Integer> ranks,
    long lastEnqueued,
    long lastStarted,
    long lastCompleted) {}
