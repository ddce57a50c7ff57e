/**
 * The CUDA driver: contexts, streams, events and memory of NVIDIA GPUs.
 *
 * <p>{@link org.sparkcollectives.gpu.cuda.Cuda} has all functions of the driver that are used.
 * Everything else reaches the driver through it, and has no native code.
 */
package org.sparkcollectives.gpu.cuda;
