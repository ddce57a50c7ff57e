package org.sparkcollectives.spi;

import org.sparkcollectives.net.TransportSecurity;

/** The encryption of what ranks outside Spark send to other processes. */
public enum Encryption {
  /** No encryption. Both sides still prove that they have the group's secret. */
  NONE,
  /** TLS 1.3. Each process has a key of its own, bound to the group's secret. */
  TLS;

  /** Returns the transport security that implements this. */
  public TransportSecurity security() {
    return switch (this) {
      case NONE -> TransportSecurity.plain();
      case TLS -> TransportSecurity.ephemeralTls();
    };
  }
}
