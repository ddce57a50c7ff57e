package org.sparkcollectives.net;

import java.io.IOException;

/** Thrown when a handshake fails. The message says why, as far as the other side may know. */
public final class HandshakeException extends IOException {

  private final boolean worthARetry;

  HandshakeException(String message, boolean worthARetry) {
    super(message);
    this.worthARetry = worthARetry;
  }

  /** Returns whether the other side may merely not be ready yet. */
  public boolean isWorthARetry() {
    return worthARetry;
  }
}
