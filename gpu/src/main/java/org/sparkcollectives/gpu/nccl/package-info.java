/**
 * Collectives on GPUs over NCCL.
 *
 * <p>{@link org.sparkcollectives.gpu.nccl.Nccl} is all that is asked of the library, and the only
 * door to it; what is above has no native code.
 */
package org.sparkcollectives.gpu.nccl;
