package org.sparkcollectives.gpu.nccl;

import java.util.OptionalDouble;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.EventCache;

/**
 * The events that mark how far the operations of a group are, on one device. Those at the start and
 * the end of an operation are measured once {@link #enableTiming} was called. The device must be
 * current on the thread that calls a method. Thread-safe.
 */
final class OperationEvents implements AutoCloseable {

  private final CudaDevice device;
  private final EventCache events;
  private final EventCache timers;
  private volatile boolean timing;

  /** Creates the events of a group, of which there are none yet. */
  OperationEvents(CudaDevice device) {
    this.device = device;
    this.events = new EventCache(device, false);
    this.timers = new EventCache(device, true);
  }

  /** Measures operations that start from now on. */
  void enableTiming() {
    timing = true;
  }

  CudaDevice device() {
    return device;
  }

  /** Records an event after the work in the stream of an operation's caller. */
  long recordReady(long callerStream) {
    return record(events, callerStream);
  }

  /** Records the start of an operation; returns 0 if it is not measured. */
  long recordStart(long stream) {
    return timing ? record(timers, stream) : 0;
  }

  /** Records the end of an operation, of which {@link #recordStart} has returned {@code start}. */
  long recordEnd(long start, long stream) {
    return record(start == 0 ? events : timers, stream);
  }

  private long record(EventCache from, long stream) {
    long event = from.take();
    boolean recorded = false;
    try {
      device.cuda().recordEvent(event, stream);
      recorded = true;
      return event;
    } finally {
      if (!recorded) {
        from.giveBack(event);
      }
    }
  }

  /** Takes back what {@link #recordReady} has returned. */
  void giveBackReady(long event) {
    events.giveBack(event);
  }

  /**
   * Takes back the events of an operation that is done. Returns the time between them in
   * milliseconds; empty if it was not measured.
   */
  OptionalDouble giveBack(long start, long end) {
    if (start == 0) {
      events.giveBack(end);
      return OptionalDouble.empty();
    }
    double millis = device.cuda().elapsedMillis(start, end);
    timers.giveBack(start);
    timers.giveBack(end);
    return OptionalDouble.of(millis);
  }

  /** Destroys the events that no operation uses now, and the others when they are given back. */
  @Override
  public void close() {
    try {
      events.close();
    } finally {
      timers.close();
    }
  }
}
