package org.sparkcollectives.store.net;

/** The ways to protect the bytes of a connection; the codes are those of the wire. */
enum Protection {
  NONE((byte) 0, "does not encrypt"),
  AES_GCM((byte) 1, "encrypts with AES-GCM"),
  TLS((byte) 2, "encrypts with TLS");

  private final byte code;
  private final String words;

  Protection(byte code, String words) {
    this.code = code;
    this.words = words;
  }

  byte code() {
    return code;
  }

  /** That the two sides of a connection do not go together, and what to do. */
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
