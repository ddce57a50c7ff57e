package org.sparkcollectives.store;

import org.sparkcollectives.net.EventLoops;

/**
 * The one event loop that all store clients of this JVM share. It exists while there are clients.
 */
final class SharedEventLoop {

  private static EventLoops loops;
  private static int users;

  private SharedEventLoop() {}

  /**
   * Returns the loop, starting it for the first user. Each caller must call {@link #release} once.
   */
  static synchronized EventLoops acquire() {
    if (users == 0) {
      loops = EventLoops.open("store-client", 1);
    }
    users++;
    return loops;
  }

  /** Releases one use; the last release ends the loop. */
  static void release() {
    EventLoops unused = null;
    synchronized (SharedEventLoop.class) {
      users--;
      if (users == 0) {
        unused = loops;
        loops = null;
      }
    }
    if (unused != null) {
      unused.close();
    }
  }
}
