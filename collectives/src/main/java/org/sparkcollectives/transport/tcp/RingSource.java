package org.sparkcollectives.transport.tcp;

import java.nio.ByteBuffer;
import org.sparkcollectives.transport.PolledMemory;
import org.sparkcollectives.transport.shm.SharedRing;

/** Reads segments from memory that the peer's process shares. */
final class RingSource implements ByteSource, PolledMemory {

  private final SharedRing ring;
  private boolean wanted;

  RingSource(SharedRing ring) {
    this.ring = ring;
  }

  @Override
  public boolean read(Reader reader) {
    ByteBuffer segment = ring.next();
    if (segment == null) {
      return false;
    }
    reader.read(segment);
    ring.release();
    return true;
  }

  @Override
  public boolean hasBytes() {
    return ring.next() != null;
  }

  @Override
  public void want(boolean now) {
    wanted = now;
  }

  @Override
  public boolean isAwaited() {
    return wanted;
  }

  @Override
  public void close() {
    ring.close();
  }
}
