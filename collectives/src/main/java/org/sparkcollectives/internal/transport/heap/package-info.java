/** The path between ranks of one JVM, which read each other's arrays. */
package org.sparkcollectives.internal.transport.heap;
