package org.sparkcollectives.internal.work;

import java.time.Duration;

/**
 * The time that an operation may take.
 *
 * @param left for this operation, from its beginning on
 * @param stated what the user has set, which errors name: more than {@code left} if the operation
 *     is a part of a longer call
 */
public record TimeLimit(Duration left, Duration stated) {}
