/**
 * Detects failures, carries them to all ranks, and ends groups.
 *
 * <p>{@link org.sparkcollectives.internal.failure.GroupMonitor} is polled by the {@link
 * org.sparkcollectives.internal.failure.Watchdog} and puts the rest together: what a rank notices
 * goes to {@code FailureReports}, from there as a record to {@code AbortPropagation}, and {@link
 * org.sparkcollectives.internal.failure.GroupState} holds what the group fails with. Whatever
 * listens to a key of the group's store does so with a {@code StoreWatch}.
 */
package org.sparkcollectives.internal.failure;
