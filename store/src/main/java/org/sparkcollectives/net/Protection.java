package org.sparkcollectives.net;

/** The ways to protect the bytes of a connection, with their codes on the wire. */
enum Protection {
  NONE((byte) 0, "does not encrypt"),
  TLS((byte) 1, "encrypts with TLS"),
  EPHEMERAL_TLS((byte) 2, "encrypts with TLS with ephemeral certificates");

  private final byte code;
  private final String words;

  Protection(byte code, String words) {
    this.code = code;
    this.words = words;
  }

  byte code() {
    return code;
  }

  /** Returns whether TLS lies below the handshake. */
  boolean isTls() {
    return this != NONE;
  }

  /** Returns a message that the two sides protect the connection differently, and what to do. */
  static String mismatch(byte theirs, Protection ours) {
    String other = "protects connections in a way that is unknown here";
    for (Protection each : values()) {
      if (each.code == theirs) {
        other = each.words;
      }
    }
    return "it "
        + other
        + ", but this side "
        + ours.words
        + "; all processes must have the same settings of encryption";
  }
}
