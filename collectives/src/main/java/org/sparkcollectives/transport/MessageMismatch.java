package org.sparkcollectives.transport;

import java.util.List;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.OpType;

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
            + ADVICE,
        List.of(call(peer, peerIn), call(rank, rankIn)));
  }

  /** What a rank calls, as its header tells it. */
  public static CollectiveCall call(int rank, OperationHeader header) {
    boolean hasElements = header.type() != OpType.BARRIER;
    return new CollectiveCall(
        rank,
        header.type(),
        header.sequenceNumber(),
        hasElements ? header.dtype() : null,
        hasElements && header.count() > 0 ? header.count() : -1,
        List.of(),
        Device.Type.CPU,
        header.reduction(),
        header.root());
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
            + ADVICE,
        List.of(call(sender, senderIn), call(receiver, receiverIn)));
  }
}
