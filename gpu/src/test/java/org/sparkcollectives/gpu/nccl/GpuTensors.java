package org.sparkcollectives.gpu.nccl;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/** Tensors on a GPU that are freed at the end. */
final class GpuTensors implements AutoCloseable {

  private final CudaDevice gpu;
  private final List<DeviceTensor> all = new ArrayList<>();

  GpuTensors(CudaDevice gpu) {
    this.gpu = gpu;
  }

  DeviceTensor of(Tensor host) {
    DeviceTensor made = DeviceTensor.copyOf(gpu, host);
    all.add(made);
    return made;
  }

  DeviceTensor of(float... values) {
    return of(Tensor.of(values));
  }

  /** Returns the elements of a tensor. */
  static float[] floats(DeviceTensor tensor) {
    float[] values = new float[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  @Override
  public void close() {
    all.forEach(DeviceTensor::free);
  }
}
