package org.sparkcollectives.gpu.staged;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.MemoryUse;
import org.sparkcollectives.gpu.cuda.PinnedBuffer;
import org.sparkcollectives.spi.OperationStage;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.NanCheck;

/**
 * The copies of one operation's tensors to host memory and back.
 *
 * <p>The copies to the host are enqueued at the call, behind the work in the caller's current
 * stream. When the operation starts, the thread that runs it waits for them. The copies back are
 * complete before the operation is done, so whoever sees it done may use the tensors in any stream.
 */
final class Staging implements OperationStage {

  /** A tensor, the use that keeps it, and its copy in host memory. */
  private record Pair(DeviceTensor tensor, MemoryUse use, PinnedBuffer buffer) {}

  private final StagingArea area;
  private final String operation;
  private final List<Pair> all = new ArrayList<>();
  private final List<Pair> results = new ArrayList<>();
  private final List<HostTensor> inputs = new ArrayList<>();

  /** 0 until all tensors are known. */
  private long copied;

  /** Creates a staging that starts behind the work in the caller's current stream. */
  Staging(StagingArea area, String operation) {
    this.area = area;
    this.operation = operation;
    onDevice(
        () -> {
          CudaDevice device = area.device();
          long called = area.events().take();
          device.cuda().recordEvent(called, CudaStream.current(device).handle());
          device.cuda().streamWaitEvent(area.in().handle(), called);
          // The wait is in the stream already: the driver keeps what it needs of the event.
          area.events().giveBack(called);
        });
  }

  /** Runs {@code calls} with the area's device current on the thread. */
  private void onDevice(Runnable calls) {
    long previous = area.device().enter();
    try {
      calls.run();
    } finally {
      area.device().leave(previous);
    }
  }

  /** Stages a tensor that the operation reads. */
  HostTensor read(Tensor tensor) {
    Pair pair = stage(tensor);
    HostTensor host = host(pair);
    if (host.count() > 0) {
      copyToHost(pair);
      inputs.add(host);
    }
    return host;
  }

  private void copyToHost(Pair pair) {
    try {
      onDevice(
          () ->
              cuda()
                  .copyToHost(
                      pair.buffer.address(),
                      pair.tensor.address(),
                      pair.tensor.byteSize(),
                      area.in().handle()));
    } catch (RuntimeException e) {
      ended(e);
      throw e;
    }
  }

  /** Stages tensors that the operation reads. */
  List<Tensor> readAll(List<Tensor> tensors) {
    return tensors.stream().<Tensor>map(this::read).toList();
  }

  /** Stages a tensor that the operation writes. */
  HostTensor write(Tensor tensor) {
    Pair pair = stage(tensor);
    results.add(pair);
    return host(pair);
  }

  /** Stages tensors that the operation writes. */
  List<Tensor> writeAll(List<Tensor> tensors) {
    return tensors.stream().<Tensor>map(this::write).toList();
  }

  /** Stages a tensor that the operation reads, then writes. */
  HostTensor update(Tensor tensor) {
    HostTensor host = read(tensor);
    results.add(all.get(all.size() - 1));
    return host;
  }

  /**
   * Takes a buffer in host memory for a tensor. If that fails, the operation fails, and the buffers
   * of the other tensors are released.
   */
  private Pair stage(Tensor tensor) {
    try {
      DeviceTensor own = area.own(tensor);
      requireFits(own);
      PinnedBuffer buffer = area.pool().take((int) own.byteSize());
      try {
        all.add(new Pair(own, DeviceTensor.use(List.of(own)), buffer));
      } catch (IllegalStateException e) {
        area.pool().giveBack(buffer);
        throw e;
      }
      return all.get(all.size() - 1);
    } catch (RuntimeException e) {
      ended(e);
      throw e;
    }
  }

  private static void requireFits(DeviceTensor own) {
    if (own.byteSize() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          own
              + " has "
              + own.byteSize()
              + " bytes; through host memory an operation takes tensors of up to "
              + Integer.MAX_VALUE
              + ": use slices, or the backend nccl");
    }
  }

  private static HostTensor host(Pair pair) {
    return HostTensor.wrap(
            pair.tensor.dtype(),
            pair.buffer
                .buffer()
                .limit((int) pair.tensor.byteSize())
                .slice()
                .order(ByteOrder.nativeOrder()))
        .reshape(pair.tensor.shape());
  }

  private Cuda cuda() {
    return area.device().cuda();
  }

  /** Marks that all tensors are known. Called once. */
  Staging begun() {
    onDevice(
        () -> {
          copied = area.events().take();
          cuda().recordEvent(copied, area.in().handle());
        });
    return this;
  }

  @Override
  public void before() {
    onDevice(() -> area.await(copied, operation));
    if (area.checksNan()) {
      inputs.forEach(this::requireNoNan);
    }
  }

  private void requireNoNan(HostTensor host) {
    long index = NanCheck.first(host);
    if (index >= 0) {
      throw new IllegalArgumentException(
          operation
              + ": element "
              + index
              + " of "
              + host
              + " on "
              + area.device().device()
              + " is not a number (spark.collectives.nanCheck)");
    }
  }

  @Override
  public void after() {
    onDevice(
        () -> {
          long done = area.events().take();
          try {
            results.forEach(this::copyBack);
            cuda().recordEvent(done, area.out().handle());
            area.await(done, operation);
          } finally {
            // Done even if the group has failed meanwhile: nobody waits for the event any more.
            area.events().giveBack(done);
          }
        });
  }

  private void copyBack(Pair pair) {
    if (pair.tensor.count() > 0) {
      cuda()
          .copyToDevice(
              pair.tensor.address(),
              pair.buffer.address(),
              pair.tensor.byteSize(),
              area.out().handle());
    }
  }

  /** Ends the staging with the operation. The buffers are reused unless it has failed. */
  void ended(Throwable cause) {
    for (Pair each : all) {
      if (cause == null) {
        area.pool().giveBack(each.buffer);
        each.use.close();
      } else {
        area.pool().abandon(each.buffer);
        each.use.abandon();
      }
    }
    if (copied != 0) {
      onDevice(() -> area.events().giveBack(copied));
    }
  }
}
