package org.sparkcollectives.transport;

/** Memory that another process changes without waking anybody: who waits for it must look. */
public interface PolledMemory {

  /** Whether a thread waits for it now. */
  boolean isAwaited();
}
