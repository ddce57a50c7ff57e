package org.sparkcollectives.gpu.staged;

import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.OpType;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.WorkResult;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/** An operation in host memory as that on the GPU for which it is carried out. */
final class StagedWork implements Work {

  private final Work host;
  private final CompletableFuture<List<Tensor>> future;
  private final CudaDevice device;

  /**
   * Of an operation that is done when the tensors on the GPU are.
   *
   * @param outputs what is written on the GPU
   */
  StagedWork(Work host, List<Tensor> outputs, CudaDevice device) {
    this.host = host;
    this.future = host.future().thenApply(hosts -> outputs);
    this.device = device;
  }

  @Override
  public void await() {
    host.await();
  }

  @Override
  public boolean await(Duration timeout) {
    return host.await(timeout);
  }

  @Override
  public boolean isCompleted() {
    return host.isCompleted();
  }

  @Override
  public boolean isSuccess() {
    return host.isSuccess();
  }

  @Override
  public Throwable exception() {
    return host.exception();
  }

  @Override
  public CompletableFuture<List<Tensor>> future() {
    return future.copy();
  }

  @Override
  public CompletableFuture<WorkResult> result() {
    return host.result();
  }

  @Override
  public OpType opType() {
    return host.opType();
  }

  @Override
  public long sequenceNumber() {
    return host.sequenceNumber();
  }

  @Override
  public int sourceRank() {
    return host.sourceRank();
  }

  /** In new memory of the GPU; blocks while it is copied there. */
  @Override
  public SparseTensor sparseResult() {
    SparseTensor sum = host.sparseResult();
    return SparseTensor.of(
        sum.shape(),
        DeviceTensor.copyOf(device, sum.indices()),
        DeviceTensor.copyOf(device, sum.values()));
  }

  @Override
  public OptionalDouble durationMillis() {
    return host.durationMillis();
  }

  @Override
  public String toString() {
    return host.toString();
  }
}
