/**
 * Collectives on GPUs over NCCL.
 *
 * <p>{@link org.sparkcollectives.gpu.nccl.Nccl} has all functions of the library that are used.
 * Everything else reaches NCCL through it, and has no native code.
 */
package org.sparkcollectives.gpu.nccl;
