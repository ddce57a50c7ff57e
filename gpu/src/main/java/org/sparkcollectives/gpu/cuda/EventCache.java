package org.sparkcollectives.gpu.cuda;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The events of one device that are not in use: to make one costs more than to use it. Thread-safe.
 */
public final class EventCache implements AutoCloseable {

  private static final int CAPACITY = 256;

  private final CudaDevice device;
  private final boolean timed;
  private final Deque<Long> idle = new ArrayDeque<>();
  private boolean closed;

  /** Of a device; {@code timed} events can be measured, and cost a little more. */
  public EventCache(CudaDevice device, boolean timed) {
    this.device = device;
    this.timed = timed;
  }

  /** An event, to be given back. The device is that of the calling thread. */
  public long take() {
    Long event;
    synchronized (this) {
      event = idle.poll();
    }
    return event == null ? device.cuda().createEvent(timed) : event;
  }

  /** Takes back an event that nobody looks at any more. The device is that of the thread. */
  public void giveBack(long event) {
    synchronized (this) {
      if (!closed && idle.size() < CAPACITY) {
        idle.push(event);
        return;
      }
    }
    device.cuda().destroyEvent(event);
  }

  /** Lets go of all that are not in use, and of others when they are given back. */
  @Override
  public void close() {
    Deque<Long> last;
    synchronized (this) {
      closed = true;
      last = new ArrayDeque<>(idle);
      idle.clear();
    }
    long previous = device.enter();
    try {
      last.forEach(device.cuda()::destroyEvent);
    } finally {
      device.leave(previous);
    }
  }
}
