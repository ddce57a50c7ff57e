package org.sparkcollectives.examples.benchmark;

import java.io.Serializable;
import org.sparkcollectives.config.ByteString;

/** A number of bytes as Spark writes it. */
record Size(long bytes) implements Serializable {

  static Size parse(String text) {
    return new Size(ByteString.parse(text));
  }

  @Override
  public String toString() {
    return ByteString.format(bytes);
  }
}
