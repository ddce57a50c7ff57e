/**
 * Records of failures, for hosts of ranks that report the loss of a rank in its place.
 *
 * <p>A record lies in the group's part of the store, in the form of {@link
 * org.sparkcollectives.spi.failure.FailureCodec}.
 */
package org.sparkcollectives.spi.failure;
