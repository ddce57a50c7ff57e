package org.sparkcollectives.djl;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Says where the tests have an engine. */
final class Engines {

  private Engines() {}

  /**
   * Skips the test, with a line that says why, on any machine but the one whose natives the build
   * has; there a test without an engine fails.
   */
  static void assumePyTorch() {
    String os = System.getProperty("os.name");
    String arch = System.getProperty("os.arch");
    assumeTrue(
        os.equals("Linux") && arch.equals("amd64"),
        "Skipped: the build has PyTorch's natives for Linux on x86-64 only, and this is "
            + os
            + " on "
            + arch);
  }
}
