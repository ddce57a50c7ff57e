package org.sparkcollectives.internal.transport;

/** One end of a stream of bytes, at which they go out or come in. */
public interface StreamEnd {

  /** Frees what this end holds, and drops what was not read; when nobody uses it any more. */
  void close();
}
