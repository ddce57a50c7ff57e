/**
 * Tells what the other ranks of a group do: whether their processes send heartbeats, how far they
 * are, and which have left. {@link org.sparkcollectives.internal.liveness.Watchdog} polls the
 * groups of a JVM, and {@link org.sparkcollectives.internal.liveness.WatchdogGuard} watches over
 * it.
 *
 * <p>Whatever listens to a key of the group's store does so with a {@link
 * org.sparkcollectives.internal.liveness.StoreWatch}. Nothing here ends a group.
 */
package org.sparkcollectives.internal.liveness;
