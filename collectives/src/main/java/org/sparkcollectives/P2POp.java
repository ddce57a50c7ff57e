package org.sparkcollectives;

import java.util.Objects;

/**
 * A message of a batch, see {@link ProcessGroup#batch}.
 *
 * @param type {@link OpType#SEND} or {@link OpType#RECV}
 * @param tensor what is sent, or receives
 * @param peer the group rank of the other side
 * @param tag 0 or more
 */
public record P2POp(OpType type, Tensor tensor, int peer, int tag) {

  public P2POp {
    Objects.requireNonNull(tensor, "tensor");
    if (type != OpType.SEND && type != OpType.RECV) {
      throw new IllegalArgumentException("A batch holds sends and receives, not " + type);
    }
  }

  /** Returns the message that {@link ProcessGroup#send} sends. */
  public static P2POp send(Tensor tensor, int destination, int tag) {
    return new P2POp(OpType.SEND, tensor, destination, tag);
  }

  /** Returns the message that {@link ProcessGroup#send(Tensor, int)} sends, with the tag 0. */
  public static P2POp send(Tensor tensor, int destination) {
    return send(tensor, destination, 0);
  }

  /** Returns the message that {@link ProcessGroup#recv} receives. */
  public static P2POp recv(Tensor tensor, int source, int tag) {
    return new P2POp(OpType.RECV, tensor, source, tag);
  }

  /** Returns the message that {@link ProcessGroup#recv(Tensor, int)} receives, with the tag 0. */
  public static P2POp recv(Tensor tensor, int source) {
    return recv(tensor, source, 0);
  }
}
