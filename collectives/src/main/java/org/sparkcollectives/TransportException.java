package org.sparkcollectives;

/**
 * Thrown when a path to a peer could not be made, or broke. The message has the peer's rank and
 * address.
 */
public final class TransportException extends CollectiveException {

  private final int peer;
  private final String address;

  /**
   * Creates an exception with the peer's group rank, or -1 if it is not known, and the cause or
   * null.
   */
  public TransportException(String message, int peer, Throwable cause) {
    this(message, peer, "", cause);
  }

  /**
   * Creates an exception with the peer's group rank, its address as host and port, and the cause or
   * null.
   */
  public TransportException(String message, int peer, String address, Throwable cause) {
    super(message, cause);
    this.peer = peer;
    this.address = address;
  }

  /** Creates an exception where the peer's rank is not known. */
  public TransportException(String message) {
    this(message, -1, null);
  }

  /** Creates an exception with a cause where the peer's rank is not known. */
  public TransportException(String message, Throwable cause) {
    this(message, -1, cause);
  }

  /** Returns where the peer is, as host and port; empty if that is not known. */
  public String address() {
    return address;
  }

  /** Returns the group rank of the peer, or -1 if it is not known. */
  public int peer() {
    return peer;
  }
}
