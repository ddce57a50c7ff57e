package org.sparkcollectives.net;

/**
 * The purpose of a connection, which both sides state in the handshake, and prove.
 *
 * @param group the group; decides which secret counts
 * @param from the rank that connects
 * @param to the rank that is connected to
 * @param kind what the connection carries, as its users number it
 */
public record ConnectionId(String group, int from, int to, int kind) {

  /** The longest name of a group in bytes of UTF-8. */
  public static final int MAX_GROUP_BYTES = 2048;
}
