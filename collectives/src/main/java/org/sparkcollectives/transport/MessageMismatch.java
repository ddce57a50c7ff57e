package org.sparkcollectives.transport;

import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;

/** What is said when a message is not the one that its receiver expects. */
public final class MessageMismatch {

  /** What the user has to do about it. */
  public static final String ADVICE =
      "All ranks must call the same collectives in the same order, with the same sizes";

  private MessageMismatch() {}

  /** Names both ranks and what each is doing. */
  public static CollectiveMismatchException between(
      int peer, OperationHeader peerIn, int rank, OperationHeader rankIn) {
    return new CollectiveMismatchException(
        "rank "
            + peer
            + " is in "
            + peerIn
            + ", but rank "
            + rank
            + " is in "
            + rankIn
            + ". "
            + ADVICE);
  }

  /** Names both ranks, what each is doing, and what each sends or expects. */
  public static CollectiveMismatchException between(
      int sender,
      OperationHeader senderIn,
      DType sentDtype,
      long sentCount,
      int receiver,
      OperationHeader receiverIn,
      DType expectedDtype,
      long expectedCount) {
    return new CollectiveMismatchException(
        "rank "
            + sender
            + " is in "
            + senderIn
            + " and sends "
            + sentDtype.label()
            + " x "
            + sentCount
            + ", but rank "
            + receiver
            + " is in "
            + receiverIn
            + " and expects "
            + expectedDtype.label()
            + " x "
            + expectedCount
            + ". "
            + ADVICE);
  }
}
