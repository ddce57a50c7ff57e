/**
 * Interfaces between algorithms and the paths over which bytes move, and the topology of a group.
 *
 * <p>{@link org.sparkcollectives.internal.transport.Peers} is what an algorithm sees of the others.
 */
package org.sparkcollectives.internal.transport;
