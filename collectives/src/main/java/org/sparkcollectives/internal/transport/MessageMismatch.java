package org.sparkcollectives.internal.transport;

import java.util.List;
import java.util.Locale;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.OpType;

/** Describes the difference when a message is not the one that its receiver expects. */
public final class MessageMismatch {

  /** The advice at the end of each text. */
  private static final String ADVICE =
      "All ranks must call the same collectives in the same order, with the same sizes";

  private MessageMismatch() {}

  /** Names both ranks and what each is doing. */
  public static CollectiveMismatchException between(
      int peer, OperationHeader peerIn, int rank, OperationHeader rankIn) {
    return new CollectiveMismatchException(
        String.format(
            Locale.ROOT,
            "rank %d is in %s, but rank %d is in %s. %s",
            peer,
            peerIn,
            rank,
            rankIn,
            ADVICE),
        List.of(call(peer, peerIn), call(rank, rankIn)));
  }

  /** Returns what a rank calls, as its header tells it. */
  public static CollectiveCall call(int rank, OperationHeader header) {
    boolean hasElements = header.type() != OpType.BARRIER;
    return new CollectiveCall(
        rank,
        header.type(),
        header.sequenceNumber(),
        new CollectiveCall.Tensors(
            hasElements ? header.dtype() : null,
            hasElements && header.count() > 0 ? header.count() : -1,
            List.of(),
            Device.Type.CPU),
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
        String.format(
            Locale.ROOT,
            "rank %d is in %s and sends %s x %d, but rank %d is in %s and expects %s x %d. %s",
            sender,
            senderIn,
            sentDtype.label(),
            sentCount,
            receiver,
            receiverIn,
            expectedDtype.label(),
            expectedCount,
            ADVICE),
        List.of(call(sender, senderIn), call(receiver, receiverIn)));
  }

  /**
   * Names both ranks, what each is doing, and the tensor that the one has in place of what the
   * other expects.
   *
   * @param found its type; null if there is none
   */
  public static CollectiveMismatchException ofTensor(
      int peer,
      OperationHeader peerIn,
      DType found,
      long foundCount,
      int rank,
      OperationHeader rankIn,
      DType expected,
      long expectedCount) {
    String tensor = found == null ? "no such tensor" : found.label() + " x " + foundCount;
    return new CollectiveMismatchException(
        String.format(
            Locale.ROOT,
            "rank %d is in %s with %s, but rank %d is in %s and expects %s x %d. %s",
            peer,
            peerIn,
            tensor,
            rank,
            rankIn,
            expected.label(),
            expectedCount,
            ADVICE),
        List.of(
            call(peer, peerIn).withCount(found == null ? -1 : foundCount),
            call(rank, rankIn).withCount(expectedCount)));
  }
}
