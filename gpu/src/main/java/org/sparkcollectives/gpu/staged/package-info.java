/**
 * Collectives on tensors of a GPU by way of host memory: for machines without NCCL, and for several
 * ranks on one GPU.
 */
package org.sparkcollectives.gpu.staged;
