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

/** A work on the GPU whose operation runs in host memory. */
final class StagedWork implements Work {

  private final Work host;

  /** Ends when the tensors on the GPU are written: the host's operation, or the copy after it. */
  private final Work end;

  private final CompletableFuture<List<Tensor>> tensors;
  private final CudaDevice device;

  private StagedWork(
      Work host, Work end, CompletableFuture<List<Tensor>> tensors, CudaDevice device) {
    this.host = host;
    this.end = end;
    this.tensors = tensors;
    this.device = device;
  }

  /**
   * Creates the work of an operation that is done when the tensors on the GPU are written.
   *
   * @param outputs the tensors that are written on the GPU
   */
  static Work of(Work host, List<Tensor> outputs, CudaDevice device) {
    return new StagedWork(host, host, host.future().thenApply(hosts -> outputs), device);
  }

  /**
   * Creates the work of a message that is received in host memory, then copied to the GPU.
   *
   * @param copied done when the tensor on the GPU is written
   */
  static Work received(Work host, CompletableFuture<List<Tensor>> copied, CudaDevice device) {
    return new StagedWork(
        host, Work.of(host.opType(), host.sequenceNumber(), copied), copied, device);
  }

  /**
   * Waits for the result. An interrupt during the host's operation aborts the group; the copy after
   * it is short.
   */
  @Override
  public void await() {
    host.await();
    end.await();
  }

  @Override
  public boolean await(Duration timeout) {
    long begin = System.nanoTime();
    if (!host.await(timeout)) {
      return false;
    }
    Duration left = timeout.minusNanos(System.nanoTime() - begin);
    return end.await(left.isNegative() ? Duration.ZERO : left);
  }

  @Override
  public boolean isCompleted() {
    return end.isCompleted();
  }

  @Override
  public boolean isSuccess() {
    return end.isSuccess();
  }

  @Override
  public Throwable exception() {
    return end.exception();
  }

  @Override
  public CompletableFuture<List<Tensor>> future() {
    return tensors.copy();
  }

  @Override
  public CompletableFuture<WorkResult> result() {
    return end.result();
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

  /** Returns the result in new memory of the GPU. Blocks while it is copied there. */
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
    return end.durationMillis();
  }

  @Override
  public String toString() {
    return host.toString();
  }
}
