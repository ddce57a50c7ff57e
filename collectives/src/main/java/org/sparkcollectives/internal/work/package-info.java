/**
 * The work of operations: what all kinds have in common, what is pending, its time and its hooks.
 * {@link org.sparkcollectives.internal.work.GroupMonitor} has the pending work of a group, and puts
 * together what may end it, from the packages {@code internal.failure} and {@code
 * internal.liveness}.
 */
package org.sparkcollectives.internal.work;
