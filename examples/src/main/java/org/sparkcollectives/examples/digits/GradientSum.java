package org.sparkcollectives.examples.digits;

import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/** Adds up an array over all ranks: in host memory, or on the GPUs of the ranks. */
final class GradientSum {

  private final ProcessGroup world;
  private final double[] values;

  /** The array itself, or its copy on the GPU. */
  private final Tensor tensor;

  private final boolean onGpu;

  /** Creates the sum for an array that is added up repeatedly. */
  GradientSum(ProcessGroup world, double[] values, Device.Type device) {
    this.world = world;
    this.values = values;
    this.onGpu = device == Device.Type.CUDA;
    this.tensor = onGpu ? world.allocate(DType.FLOAT64, values.length, device) : Tensor.of(values);
  }

  /** Replaces the array by the sum of the arrays of all ranks. */
  void run() {
    if (onGpu) {
      tensor.copyFrom(values);
    }
    world.allReduce(tensor, ReduceOp.SUM).await();
    if (onGpu) {
      tensor.copyTo(values);
    }
  }
}
