package org.sparkcollectives;

import org.sparkcollectives.store.net.TransportSecurity;

/** How ranks outside Spark encrypt what they send to other processes. */
public enum Encryption {
  /** Not at all; that both sides have the group's secret is proven nevertheless. */
  NONE,
  /** With AES-256-GCM, under keys that follow from the group's secret. */
  AES_GCM;

  /** What does so. */
  public TransportSecurity security() {
    return switch (this) {
      case NONE -> TransportSecurity.plain();
      case AES_GCM -> TransportSecurity.aesGcm();
    };
  }
}
