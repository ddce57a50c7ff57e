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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.EventCache;
import org.sparkcollectives.gpu.cuda.PinnedPool;
import org.sparkcollectives.net.LibraryThreads;
import org.sparkcollectives.spi.BackendOperations;
import org.sparkcollectives.store.Backoff;

/**
 * The resources that the operations of a group share to copy between a GPU and host memory: a
 * stream for each direction, because the bus works in both directions at once, events, and pinned
 * buffers.
 *
 * <p>Buffers of failed operations are not reused, and not freed while a thread of the network may
 * still write into them. They, and their hold on the GPU, are released when nobody can reach them.
 */
final class StagingArea implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StagingArea.class);
  private static final long CLOSE_SECONDS = 10;
  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

  private final CudaDevice device;
  private final BackendOperations operations;
  private volatile boolean checksNan;
  private final CudaStream in;
  private final CudaStream out;
  private final EventCache events;
  private final ThreadPoolExecutor copier;
  private final List<DeviceTensor> allocated = new ArrayList<>();

  /**
   * Creates the area of a group on a GPU. It closes the device.
   *
   * @param checksNan whether inputs of operations are searched for NaN
   */
  StagingArea(CudaDevice device, BackendOperations operations, boolean checksNan, String group) {
    this.device = device;
    this.operations = operations;
    this.checksNan = checksNan;
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
            LibraryThreads.named("collectives-staging-" + group));
    copier.allowCoreThreadTimeOut(true);
  }

  CudaDevice device() {
    return device;
  }

  /** Returns the stream of copies from the GPU. */
  CudaStream in() {
    return in;
  }

  /** Returns the stream of copies to the GPU. */
  CudaStream out() {
    return out;
  }

  EventCache events() {
    return events;
  }

  PinnedPool pool() {
    return device.pinnedPool();
  }

  boolean checksNan() {
    return checksNan;
  }

  /** Turns the NaN check on or off, for later inputs. */
  void setNanCheck(boolean enabled) {
    checksNan = enabled;
  }

  /** Returns the executor that copies received data to the GPU when no thread of the user waits. */
  Executor copier() {
    return copier;
  }

  /** Returns a tensor on this area's GPU. */
  DeviceTensor own(Tensor tensor) {
    DeviceTensor own = DeviceTensor.of(tensor);
    if (own.gpu().ordinal() != device.ordinal()) {
      throw new IllegalArgumentException(
          "The rank works on " + device.device() + ", and the tensor is " + own);
    }
    return own;
  }

  /**
   * Blocks until an event has happened, or the group has failed. The device must be current on the
   * thread.
   */
  void await(long event, String operation) {
    Backoff backoff = Backoff.every(PAUSE_NANOS);
    long begin = System.nanoTime();
    while (!device.cuda().hasHappened(event)) {
      if (operations.hasFailed()) {
        throw operations.exceptionFor(operation);
      }
      if (Thread.interrupted()) {
        Thread.currentThread().interrupt();
        throw new CollectiveException(
            "Interrupted during " + operation + " while earlier work in the stream was not done",
            new InterruptedException());
      }
      if (System.nanoTime() - begin < SPIN_NANOS) {
        Thread.onSpinWait();
      } else {
        backoff.pause();
      }
    }
  }

  /** Allocates a tensor that lives as long as the group. */
  synchronized DeviceTensor allocate(DType dtype, long count) {
    DeviceTensor tensor = DeviceTensor.allocate(device, dtype, count);
    allocated.add(tensor);
    return tensor;
  }

  /**
   * Releases the resources. No operation starts any more; unless the group has failed, only copies
   * of data that has arrived are in progress. Blocks for these, for some seconds at the most: the
   * resources are released after the last of them.
   */
  @Override
  public void close() {
    Future<?> end = copier.submit(this::release);
    copier.shutdown();
    try {
      end.get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      LOG.warn(
          "Received messages are not copied to {} yet, because earlier work there is not done: the"
              + " group's resources there are released after it",
          device.device());
    } catch (ExecutionException e) {
      throw new CollectiveException("The group could not release " + device.device(), e.getCause());
    }
  }

  private void release() {
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
