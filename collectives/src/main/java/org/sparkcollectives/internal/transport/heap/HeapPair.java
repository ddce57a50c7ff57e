package org.sparkcollectives.internal.transport.heap;

import java.util.function.Supplier;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.LentTensorException;
import org.sparkcollectives.internal.transport.MessageMismatch;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.spi.tensor.HostTensor;

/** A path between two ranks of one JVM: the receiver reads the sender's tensor itself. */
public final class HeapPair implements Pair {

  private final HeapGroup group;
  private final int rank;
  private final int peer;
  private final Progress progress;
  private final Supplier<OperationHeader> current;
  private final HeapRegion region;
  private final HeapMailbox outgoing;
  private final HeapMailbox incoming;

  /** The message on its way out; null if there is none. */
  private Sending sending;

  /** The message behind it; null if there is none. */
  private Sending queued;

  /**
   * The path of a rank that has joined {@code group} to another rank of it.
   *
   * @param progress where this rank waits, shared with its other paths
   * @param current the operation that this rank is in
   * @param region what the ranks of this JVM use in other operations; null if they use none
   */
  public HeapPair(
      HeapGroup group,
      int rank,
      int peer,
      Progress progress,
      Supplier<OperationHeader> current,
      HeapRegion region) {
    this.group = group;
    this.rank = rank;
    this.peer = peer;
    this.progress = progress;
    this.current = current;
    this.region = region;
    this.outgoing = group.mailbox(rank, peer);
    this.incoming = group.mailbox(peer, rank);
  }

  @Override
  public int peer() {
    return peer;
  }

  @Override
  public void send(HostTensor tensor) {
    if (sending != null) {
      progress.await(() -> sending == null);
    }
    sending = new Sending(current.get(), tensor);
    progress.begin(sending);
  }

  @Override
  public void queue(HostTensor tensor) {
    if (queued != null) {
      progress.await(() -> queued == null);
    }
    if (sending == null) {
      send(tensor);
    } else {
      queued = new Sending(current.get(), tensor);
      progress.begin(queued);
    }
  }

  @Override
  public void receive(HostTensor tensor) {
    HeapMailbox.Message message = next(tensor.dtype(), tensor.count());
    boolean read = false;
    try {
      tensor.copyFrom(0, message.tensor(), 0, tensor.count());
      read = true;
    } catch (RuntimeException | Error e) {
      LentTensorException.throwIfArose(e, peer, message.tensor());
      throw e;
    } finally {
      release(message, read);
    }
  }

  @Override
  public boolean hasMessage() {
    return incoming.hasMessage();
  }

  @Override
  public void receiveAndReduce(HostTensor accumulator, ReduceKernel kernel) {
    HeapMailbox.Message message = next(kernel.inputType(), accumulator.count());
    boolean read = false;
    try {
      kernel.accumulate(accumulator, 0, message.tensor(), 0, accumulator.count());
      read = true;
    } catch (RuntimeException | Error e) {
      LentTensorException.throwIfArose(e, peer, message.tensor());
      throw e;
    } finally {
      release(message, read);
    }
  }

  private void release(HeapMailbox.Message message, boolean read) {
    boolean intact = message.release();
    group.signal(peer);
    if (read && !intact) {
      // The sender has given up, and may have changed what was read: that the group has failed is
      // on its way.
      progress.await(() -> false);
    }
  }

  private HeapMailbox.Message next(DType dtype, long count) {
    HeapMailbox.Message message = null;
    while (message == null) {
      progress.await(() -> incoming.hasMessage() || peerIsElsewhere());
      message = incoming.take();
      if (message == null && peerIsElsewhere()) {
        throw region.mismatchAhead(peer);
      }
    }
    OperationHeader ours = current.get();
    OperationHeader theirs = message.header();
    boolean fits =
        theirs.equals(ours)
            && message.tensor().dtype() == dtype
            && message.tensor().count() == count;
    if (!fits) {
      CollectiveMismatchException mismatch =
          MessageMismatch.between(
              peer,
              theirs,
              message.tensor().dtype(),
              message.tensor().count(),
              rank,
              ours,
              dtype,
              count);
      message.refuse(mismatch);
      group.signal(peer);
      throw mismatch;
    }
    return message;
  }

  /**
   * Returns whether the peer works in the region, so that its earlier messages have all been taken:
   * otherwise it would still wait.
   */
  private boolean peerIsElsewhere() {
    return region != null && region.isAhead(peer);
  }

  /** One message, from the offer to the receiver's release. */
  private final class Sending implements Progress.Send {
    private final OperationHeader header;
    private final HostTensor tensor;
    private HeapMailbox.Message message;

    Sending(OperationHeader header, HostTensor tensor) {
      this.header = header;
      this.tensor = tensor;
    }

    @Override
    public Progress.State advance() {
      if (this == queued) {
        return Progress.State.WAITING;
      }
      if (message == null) {
        message = outgoing.offer(header, tensor);
        group.signal(peer);
        return Progress.State.MOVED;
      }
      CollectiveMismatchException refusal = message.refusal();
      if (refusal != null) {
        // Thrown here, it has this thread's stack.
        throw new CollectiveMismatchException(refusal.getMessage(), refusal.calls());
      }
      if (!message.isReleased()) {
        return Progress.State.WAITING;
      }
      sending = queued;
      queued = null;
      if (sending != null) {
        sending.advance();
      }
      return Progress.State.DONE;
    }

    @Override
    public void retract() {
      sending = null;
      queued = null;
      if (message != null) {
        message.retract();
      }
    }
  }
}
