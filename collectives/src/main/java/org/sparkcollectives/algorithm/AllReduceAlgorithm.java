package org.sparkcollectives.algorithm;

import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Peers;

/** A way to reduce a tensor over all ranks, in place, to the same bits on every rank. */
interface AllReduceAlgorithm {

  /**
   * Whether it can do so with this kernel, rounding each element once. One that adds up on the way
   * can where the sum has the type of the elements.
   */
  default boolean takes(ReduceKernel kernel) {
    return kernel.reducesInPlace();
  }

  /** Whether each rank is connected to each. */
  default boolean needsMesh() {
    return false;
  }

  /**
   * Whether it keeps copies of the whole tensor, which for large ones costs more than the steps
   * that it saves.
   */
  default boolean copies() {
    return false;
  }

  /** What it costs to reduce {@code bytes} bytes over {@code ranks} ranks, 2 or more. */
  Cost cost(int ranks, long bytes);

  /** Reduces {@code tensor}. */
  void run(Peers peers, HostTensor tensor, ReduceKernel kernel);
}
