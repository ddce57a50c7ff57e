/**
 * Collectives on GPU tensors through host memory: for machines without NCCL, and for several ranks
 * on one GPU.
 */
package org.sparkcollectives.gpu.staged;
