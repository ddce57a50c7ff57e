package org.sparkcollectives.internal.transport;

/** The peers of one rank; each message to them says which operation it belongs to. */
public interface Communicator extends Peers {

  /** Sets the operation that the messages from now on belong to. Sends nothing. */
  void begin(OperationHeader header);

  /**
   * Finds out whether what the current operation has thrown arose in another rank's tensor.
   *
   * @throws LentTensorException if so
   */
  void attribute(Throwable thrown);

  /** Ends what the current operation has begun, after it failed: its tensors are free when done. */
  void abandon();
}
