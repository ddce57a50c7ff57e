package org.sparkcollectives.transport.tcp;

import java.nio.ByteBuffer;
import org.sparkcollectives.transport.PolledMemory;
import org.sparkcollectives.transport.shm.Doorbell;
import org.sparkcollectives.transport.shm.SharedRing;

/** Reads segments from memory that the peer's process shares. */
final class RingSource implements ByteSource, PolledMemory {

  private final SharedRing ring;
  private final Doorbell bell;
  private boolean wanted;

  /** With the bell of the rank that reads. */
  RingSource(SharedRing ring, Doorbell bell) {
    this.ring = ring;
    this.bell = bell;
  }

  @Override
  public boolean read(Reader reader) {
    ByteBuffer segment = ring.next();
    if (segment == null) {
      return false;
    }
    reader.read(segment);
    ring.release(bell);
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
  public boolean announceSleep() {
    return ring.readerSleeps(bell);
  }

  @Override
  public void retractSleep() {
    ring.readerAwake();
  }

  @Override
  public void close() {
    ring.close();
  }
}
