/** Tensors in the memory of NVIDIA GPUs, and the choice of a rank's GPU. */
package org.sparkcollectives.gpu;
