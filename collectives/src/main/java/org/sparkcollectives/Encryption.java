package org.sparkcollectives;

import org.sparkcollectives.store.net.TransportSecurity;

/** How ranks outside Spark encrypt what they send to other processes. */
public enum Encryption {
  /** Not at all; that both sides have the group's secret is proven nevertheless. */
  NONE,
  /** With TLS 1.3, where each process has a key of its own, bound to the group's secret. */
  TLS;

  /** What does so. */
  public TransportSecurity security() {
    return switch (this) {
      case NONE -> TransportSecurity.plain();
      case TLS -> TransportSecurity.ephemeralTls();
    };
  }
}
