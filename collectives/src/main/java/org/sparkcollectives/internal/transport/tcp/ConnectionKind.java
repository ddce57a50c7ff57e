package org.sparkcollectives.internal.transport.tcp;

/**
 * The kind of data that a connection between two ranks carries. Both sides state it in the
 * handshake as a number, so that neither waits for data of another kind.
 *
 * @param use the use of the connection
 * @param stripe which stripe of the collectives they belong to; 0 where there is only one
 */
public record ConnectionKind(Use use, int stripe) {

  /**
   * The use of a connection; UNKNOWN stands for a number that no version of this library states.
   */
  public enum Use {
    COLLECTIVES,
    MESSAGES,
    RING_OFFER,
    UNKNOWN
  }

  /** Messages between two ranks. */
  public static final ConnectionKind MESSAGES = new ConnectionKind(Use.MESSAGES, 0);

  /** The offer of a ring in shared memory, through which collectives then go. */
  public static final ConnectionKind RING_OFFER = new ConnectionKind(Use.RING_OFFER, 0);

  private static final int MESSAGES_CODE = 1;
  private static final int RING_OFFER_CODE = 2;

  /** Returns the kind for one stripe of a group's collectives; the first is 0. */
  public static ConnectionKind collectives(int stripe) {
    return new ConnectionKind(Use.COLLECTIVES, stripe);
  }

  /** Returns the kind that a peer has stated. */
  public static ConnectionKind ofCode(int code) {
    return switch (code) {
      case 0 -> collectives(0);
      case MESSAGES_CODE -> MESSAGES;
      case RING_OFFER_CODE -> RING_OFFER;
      default ->
          code > 0 ? collectives(code - RING_OFFER_CODE) : new ConnectionKind(Use.UNKNOWN, 0);
    };
  }

  /** Returns how a handshake states this kind. */
  int code() {
    return switch (use) {
      case COLLECTIVES -> stripe == 0 ? 0 : stripe + RING_OFFER_CODE;
      case MESSAGES -> MESSAGES_CODE;
      case RING_OFFER -> RING_OFFER_CODE;
      case UNKNOWN -> throw new IllegalStateException("a connection of no known kind");
    };
  }
}
