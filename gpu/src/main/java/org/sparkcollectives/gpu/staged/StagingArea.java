package org.sparkcollectives.gpu.staged;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.BackendOperations;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.EventCache;
import org.sparkcollectives.gpu.cuda.PinnedPool;

/**
 * What the operations of a group share to copy between a GPU and host memory: a stream for each
 * direction, because the bus works both ways at once, events, and pinned buffers.
 *
 * <p>Buffers of operations that failed are not used again, nor freed while anybody may still write
 * into them: a thread of the network could. They, and with them the hold on the GPU, go when nobody
 * can reach them.
 */
final class StagingArea implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StagingArea.class);
  private static final long PATIENCE_SECONDS = 10;
  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

  private final CudaDevice device;
  private final BackendOperations operations;
  private volatile boolean checksNumbers;
  private final CudaStream in;
  private final CudaStream out;
  private final EventCache events;
  private final ThreadPoolExecutor copier;
  private final List<DeviceTensor> allocated = new ArrayList<>();

  /**
   * Of a group on a GPU, which it will close.
   *
   * @param checksNumbers whether what is given to operations is searched for NaN
   */
  StagingArea(
      CudaDevice device, BackendOperations operations, boolean checksNumbers, String group) {
    this.device = device;
    this.operations = operations;
    this.checksNumbers = checksNumbers;
    this.in = CudaStream.create(device, false);
    this.out = CudaStream.create(device, false);
    this.events = new EventCache(device, false);
    this.copier =
        new ThreadPoolExecutor(
            1,
            1,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            body -> {
              Thread thread = new Thread(body, "collectives-staging-" + group);
              thread.setDaemon(true);
              return thread;
            });
    copier.allowCoreThreadTimeOut(true);
  }

  CudaDevice device() {
    return device;
  }

  /** Copies from the GPU go into it. */
  CudaStream in() {
    return in;
  }

  /** Copies to the GPU go into it. */
  CudaStream out() {
    return out;
  }

  EventCache events() {
    return events;
  }

  PinnedPool pool() {
    return device.pinnedPool();
  }

  boolean checksNumbers() {
    return checksNumbers;
  }

  /** Turns the search for NaN on or off, for what is given from now on. */
  void checkNumbers(boolean enabled) {
    checksNumbers = enabled;
  }

  /** Copies back what arrives when no thread of the user waits. */
  Executor copier() {
    return copier;
  }

  /** A tensor on this area's GPU. */
  DeviceTensor own(Tensor tensor) {
    DeviceTensor own = DeviceTensor.of(tensor);
    if (own.gpu().ordinal() != device.ordinal()) {
      throw new IllegalArgumentException(
          "The rank works on " + device.device() + ", and the tensor is " + own);
    }
    return own;
  }

  /**
   * Blocks until an event has happened, or the group has failed. The device is that of the thread.
   */
  void await(long event, String operation) {
    long begin = System.nanoTime();
    while (!device.cuda().hasHappened(event)) {
      if (operations.hasFailed()) {
        throw operations.exceptionFor(operation);
      }
      if (Thread.interrupted()) {
        Thread.currentThread().interrupt();
        throw new CollectiveException(
            "Interrupted during " + operation + " while the GPU had not done what is before it",
            new InterruptedException());
      }
      if (System.nanoTime() - begin < SPIN_NANOS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
    }
  }

  /** A tensor that lives as long as the group. */
  synchronized DeviceTensor allocate(DType dtype, long count) {
    DeviceTensor tensor = DeviceTensor.allocate(device, dtype, count);
    allocated.add(tensor);
    return tensor;
  }

  /**
   * No operation is begun any more; of a group that has not failed, none is under way but copies of
   * what has arrived. Blocks for these, for some seconds at the most: what they use is let go of
   * after the last of them.
   */
  @Override
  public void close() {
    Future<?> end = copier.submit(this::letGo);
    copier.shutdown();
    try {
      end.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      LOG.warn(
          "What has arrived is not copied to {} yet, which has not done what is before it: what the"
              + " group used there stays behind until it has",
          device.device());
    } catch (ExecutionException e) {
      throw new CollectiveException(
          "The group could not let go of " + device.device(), e.getCause());
    }
  }

  private void letGo() {
    synchronized (this) {
      allocated.forEach(DeviceTensor::free);
      allocated.clear();
    }
    events.close();
    in.close();
    out.close();
    device.close();
  }
}
