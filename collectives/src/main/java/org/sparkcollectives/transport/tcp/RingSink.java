package org.sparkcollectives.transport.tcp;

import org.sparkcollectives.transport.PolledMemory;
import org.sparkcollectives.transport.shm.SharedRing;

/** Puts segments into memory that the peer's process shares. */
final class RingSink implements ByteSink, PolledMemory {

  private final SharedRing ring;
  private boolean full;

  RingSink(SharedRing ring) {
    this.ring = ring;
  }

  @Override
  public boolean offer(int bytes, Filler filler) {
    full = !ring.hasRoom();
    if (full) {
      return false;
    }
    filler.fill(ring.free().limit(bytes));
    ring.publish();
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
  public void close() {
    ring.close();
  }
}
