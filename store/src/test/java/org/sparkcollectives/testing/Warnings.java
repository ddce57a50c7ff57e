package org.sparkcollectives.testing;

import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records the warnings of a class, which the tests' logger writes to the standard error. */
public final class Warnings implements AutoCloseable {

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final PrintStream stderr = System.err;

  /** Begins to listen. */
  public Warnings(Class<?> logger) {
    String warning = "WARN " + logger.getName() + " - ";
    System.setErr(
        new PrintStream(stderr, true) {
          @Override
          public void println(String line) {
            if (line.contains(warning)) {
              lines.add(line);
            }
            super.println(line);
          }
        });
  }

  /** Returns the lines so far, without stack traces. */
  public List<String> lines() {
    return lines;
  }

  @Override
  public void close() {
    System.setErr(stderr);
  }
}
