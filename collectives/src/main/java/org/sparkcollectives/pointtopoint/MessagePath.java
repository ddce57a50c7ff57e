package org.sparkcollectives.pointtopoint;

import org.sparkcollectives.tensor.HostTensor;

/** A way for messages to one peer. */
public interface MessagePath {

  /** Who is told how a send goes on. Must not block. */
  interface Listener {

    /** The peer has called a receive that matches, and the elements move. */
    void matched();

    /** The tensor may be used again. */
    void sent();

    /** The send failed. */
    void failed(RuntimeException cause);
  }

  /**
   * Offers a message to the peer. Does not block; the tensor is read until the listener is told.
   */
  void send(HostTensor tensor, int tag, Listener listener);
}
