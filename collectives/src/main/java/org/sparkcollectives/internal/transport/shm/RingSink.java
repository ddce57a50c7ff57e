package org.sparkcollectives.internal.transport.shm;

import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.internal.transport.PolledMemory;

/** Writes segments to memory that the peer's process shares. */
public final class RingSink implements ByteSink, PolledMemory {

  private final SharedRing ring;
  private final Doorbell bell;
  private boolean full;

  /** Creates the writer's end, with the bell of the rank that sends. */
  public RingSink(SharedRing ring, Doorbell bell) {
    this.ring = ring;
    this.bell = bell;
  }

  @Override
  public boolean offer(int bytes, Filler filler) {
    full = !ring.hasFreeSlot();
    if (full) {
      return false;
    }
    filler.fill(ring.free().limit(bytes));
    ring.publish(bell);
    return true;
  }

  @Override
  public boolean drain() {
    full = false;
    return true;
  }

  @Override
  public boolean isAwaited() {
    return full;
  }

  @Override
  public boolean announceSleep() {
    return ring.writerSleeps(bell);
  }

  @Override
  public void retractSleep() {
    ring.writerAwake();
  }

  @Override
  public void close() {
    ring.close();
  }
}
