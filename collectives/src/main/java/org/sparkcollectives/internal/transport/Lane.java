package org.sparkcollectives.internal.transport;

/** Peers that tell each other, with every message, which operation it belongs to. */
public interface Lane extends Peers {

  /** Says what the messages from now on belong to. Sends nothing. */
  void begin(OperationHeader header);

  /** Ends what the current operation has begun, after it failed: its tensors are free when done. */
  void abandon();
}
