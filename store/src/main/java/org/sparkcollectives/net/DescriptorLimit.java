package org.sparkcollectives.net;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads the limit of file descriptors of this process, on Linux. The JDK's own way to ask takes a
 * tenth of a second of CPU time, and file descriptors.
 */
final class DescriptorLimit {

  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final String NAME = "Max open files";

  /** Empty where it is not known. */
  private static final String LIMIT = read();

  private DescriptorLimit() {}

  private static String read() {
    try {
      for (String line : Files.readAllLines(LIMITS)) {
        if (line.startsWith(NAME)) {
          return line.substring(NAME.length()).strip().split(" ", 2)[0];
        }
      }
    } catch (IOException e) {
      // Another system, or none is left.
    }
    return "";
  }

  /** Reads the limit, so that it is known when there are no descriptors left to read it with. */
  static void prepare() {}

  /** Returns the limit for a message; empty where it is not known. */
  static String describe() {
    return LIMIT.isEmpty() ? "" : " (the limit is " + LIMIT + ")";
  }
}
