/**
 * What the driver's store and its clients in the executors have in common: the messages and the
 * forms of what is in them, the reasons for which tasks are killed, and the threads of both sides.
 * Neither side depends on the other.
 */
package org.sparkcollectives.spark.internal.protocol;
