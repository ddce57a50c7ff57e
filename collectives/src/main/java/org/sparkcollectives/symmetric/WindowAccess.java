package org.sparkcollectives.symmetric;

import org.sparkcollectives.Tensor;

/**
 * A put or a get that waits for the fence.
 *
 * @param tensor what is put, or filled
 * @param rank in whose memory
 * @param offset where there, in bytes
 */
record WindowAccess(Tensor tensor, int rank, long offset) {}
