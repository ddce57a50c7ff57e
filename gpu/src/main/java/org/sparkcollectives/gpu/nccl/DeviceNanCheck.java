package org.sparkcollectives.gpu.nccl;

import java.util.List;
import java.util.OptionalLong;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.kernel.DeviceKernels;
import org.sparkcollectives.gpu.kernel.NanReport;
import org.sparkcollectives.spi.OperationSpec;

/**
 * Refuses operations on NaN before they start, by a kernel in the caller's stream for which the
 * caller waits. For debugging, as in c10d.
 */
final class DeviceNanCheck implements AutoCloseable {

  private final CudaDevice device;
  private final DeviceKernels kernels;

  /** Null until the first check: most groups have none. */
  private NanReport report;

  DeviceNanCheck(CudaDevice device) {
    this.device = device;
    this.kernels = new DeviceKernels(device);
  }

  /**
   * Waits until all work in the stream is done, and checks the inputs.
   *
   * @throws IllegalArgumentException naming an element that is NaN
   */
  synchronized void require(OperationSpec spec, List<DeviceTensor> inputs, CudaStream stream) {
    if (report == null) {
      report = new NanReport(device);
    }
    for (DeviceTensor each : inputs) {
      report.clear();
      kernels.nanCheck(each, report, stream);
      stream.synchronize();
      OptionalLong found = report.index();
      if (found.isPresent()) {
        throw new IllegalArgumentException(
            spec.type().label()
                + ": element "
                + found.getAsLong()
                + " of "
                + each
                + " is not a number (spark.collectives.nanCheck)");
      }
    }
  }

  /** Releases the kernels. */
  @Override
  public synchronized void close() {
    kernels.close();
    if (report != null) {
      report.close();
    }
  }
}
