package org.sparkcollectives.store.net;

import java.io.IOException;

/** Two sides did not come to terms; the message says why, as far as the other side may know. */
public final class HandshakeException extends IOException {

  private final boolean worthARetry;

  HandshakeException(String message, boolean worthARetry) {
    super(message);
    this.worthARetry = worthARetry;
  }

  /** Whether the other side may only not be ready yet. */
  public boolean isWorthARetry() {
    return worthARetry;
  }
}
