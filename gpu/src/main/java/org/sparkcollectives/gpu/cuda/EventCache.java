package org.sparkcollectives.gpu.cuda;

import java.util.ArrayDeque;
import java.util.Deque;

/** The idle events of one device: creating one costs more than using it. Thread-safe. */
public final class EventCache implements AutoCloseable {

  private static final int CAPACITY = 256;

  private final CudaDevice device;
  private final boolean timed;
  private final Deque<Long> idle = new ArrayDeque<>();
  private boolean closed;

  /**
   * Creates an empty cache for a device. {@code timed} events can be measured, and cost a little
   * more.
   */
  public EventCache(CudaDevice device, boolean timed) {
    this.device = device;
    this.timed = timed;
  }

  /** Returns an event, which the caller gives back. The device must be current on the thread. */
  public long take() {
    Long event;
    synchronized (this) {
      event = idle.poll();
    }
    return event == null ? device.cuda().createEvent(timed) : event;
  }

  /** Takes back an event that nobody queries any more. The device must be current on the thread. */
  public void giveBack(long event) {
    synchronized (this) {
      if (!closed && idle.size() < CAPACITY) {
        idle.push(event);
        return;
      }
    }
    device.cuda().destroyEvent(event);
  }

  /** Destroys the idle events now, and the others when they are given back. */
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
