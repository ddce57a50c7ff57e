package org.sparkcollectives.gpu.nccl;

import java.util.OptionalDouble;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.EventCache;

/**
 * The events that mark how far the operations of a group are, on one device. Those at the start and
 * the end of an operation are measured if the group is set so. The device must be current on the
 * thread that calls a method. Thread-safe.
 */
final class OperationEvents implements AutoCloseable {

  private final CudaDevice device;
  private final EventCache events;

  /** The cache of timed events; null if nothing is measured. */
  private final EventCache timers;

  /** Creates the events of a group, of which there are none yet. */
  OperationEvents(CudaDevice device, boolean measured) {
    this.device = device;
    this.events = new EventCache(device, false);
    this.timers = measured ? new EventCache(device, true) : null;
  }

  CudaDevice device() {
    return device;
  }

  /** Records an event after the work in the stream of an operation's caller. */
  long recordReady(long callerStream) {
    return record(events, callerStream);
  }

  /** Records the start of an operation; returns 0 if nothing is measured. */
  long recordStart(long stream) {
    return timers == null ? 0 : record(timers, stream);
  }

  /** Records the end of an operation. */
  long recordEnd(long stream) {
    return record(timers == null ? events : timers, stream);
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
   * milliseconds; empty if nothing is measured.
   */
  OptionalDouble giveBack(long start, long end) {
    if (timers == null) {
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
      if (timers != null) {
        timers.close();
      }
    }
  }
}
