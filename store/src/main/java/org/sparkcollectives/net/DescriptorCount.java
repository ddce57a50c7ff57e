package org.sparkcollectives.net;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The file descriptors that this process has and may have. */
final class DescriptorCount {

  /** Null if this Java cannot tell. */
  private static final Source SOURCE = source();

  private DescriptorCount() {}

  /** Keeps the classes of the module {@code jdk.management} apart, which a Java may lack. */
  private record Source(UnixOperatingSystemMXBean system) {

    static Source find() {
      return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
          ? new Source(unix)
          : null;
    }

    String describe() {
      String limit = "the limit is " + system.getMaxFileDescriptorCount();
      try {
        return system.getOpenFileDescriptorCount() + " are open, and " + limit;
      } catch (InternalError e) {
        // To count them takes one.
        return limit;
      }
    }
  }

  private static Source source() {
    try {
      return Source.find();
    } catch (LinkageError e) {
      return null;
    }
  }

  /**
   * Loads what {@link #describe} needs, which takes file descriptors, so that it works when there
   * are none.
   */
  static void prepare() {}

  /** Returns how many there are, and may be. */
  static String describe() {
    return SOURCE == null ? "this Java cannot tell how many there may be" : SOURCE.describe();
  }
}
