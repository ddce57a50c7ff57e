/**
 * The backend for host memory: queues of operations, their threads, and paths to the peers.
 *
 * <p>{@link org.sparkcollectives.internal.engine.CpuBackend} receives a checked call; {@link
 * org.sparkcollectives.internal.engine.OperationQueue} runs it in its turn; {@link
 * org.sparkcollectives.internal.engine.GroupPaths} holds the connections.
 */
package org.sparkcollectives.internal.engine;
