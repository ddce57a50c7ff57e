/**
 * The CUDA driver: contexts, streams, events and memory of NVIDIA GPUs.
 *
 * <p>{@link org.sparkcollectives.gpu.cuda.Cuda} is all that is asked of the driver, and the only
 * door to it; what is above has no native code.
 */
package org.sparkcollectives.gpu.cuda;
