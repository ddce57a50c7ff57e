package org.sparkcollectives.transport.tcp;

/** Is told of what comes in over a connection, and of its end. Must not block. */
interface ArrivalListener {

  /** There is something to read. */
  void received();

  /** The sender has closed the connection in good order, after this collective. */
  void finished(long lastCollective);

  /** The connection is gone, or carried what it should not. */
  void broken(String how);
}
