package org.sparkcollectives.internal.transport.shm;

import java.nio.ByteBuffer;
import org.sparkcollectives.internal.transport.ByteSource;
import org.sparkcollectives.internal.transport.PolledMemory;

/** Reads segments from memory that the peer's process shares. */
public final class RingSource implements ByteSource, PolledMemory {

  private final SharedRing ring;
  private final Doorbell bell;
  private boolean wanted;

  /** Creates the reader's end, with the bell of the rank that reads. */
  public RingSource(SharedRing ring, Doorbell bell) {
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
