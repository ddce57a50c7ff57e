package org.sparkcollectives.store;

import org.sparkcollectives.store.net.EventLoops;

/** The one event loop of all store clients of this JVM; there while there are any. */
final class SharedEventLoop {

  private static EventLoops loops;
  private static int users;

  private SharedEventLoop() {}

  /** The loop; to be released once. */
  static synchronized EventLoops acquire() {
    if (users == 0) {
      loops = EventLoops.open("store-client", 1);
    }
    users++;
    return loops;
  }

  /** Gives up one use; the last one ends the loop. */
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
