package org.sparkcollectives.internal.pointtopoint;

/** A path for messages to one peer. */
public interface MessagePath {

  /** Offers a message to the peer. Does not block. */
  void send(PostedSend message);
}
