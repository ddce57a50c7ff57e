package org.sparkcollectives.transport.tcp;

/** Memory that another process changes without waking anybody: who waits for it must look. */
interface PolledMemory {

  /** Whether a thread waits for it now. */
  boolean isAwaited();
}
