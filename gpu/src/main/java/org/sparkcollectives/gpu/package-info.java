/** Tensors in the memory of NVIDIA GPUs, and which GPU a rank works on. */
package org.sparkcollectives.gpu;
