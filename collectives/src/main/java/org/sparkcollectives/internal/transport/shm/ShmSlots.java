package org.sparkcollectives.internal.transport.shm;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.MessageMismatch;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedSlots;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The slots of a group on one host, as one of its ranks sees them. */
final class ShmSlots implements SharedSlots {

  /**
   * The number of polls after which a waiting rank checks whether a peer is in another operation.
   */
  private static final int POLLS_PER_CHECK = 64;

  private final SlotTable table;
  private final Peers peers;
  private final Consumer<BooleanSupplier> wait;
  private final Runnable changed;
  private final int rank;
  private final int size;
  private long operation;
  private OperationHeader current;
  private int polls;
  private int awaited;

  /**
   * Creates a view of the slots in {@code table}.
   *
   * @param wait waits until something is true that other processes make true
   * @param changed wakes those that wait for what this rank has made true
   */
  ShmSlots(SlotTable table, Peers peers, Consumer<BooleanSupplier> wait, Runnable changed) {
    this.table = table;
    this.peers = peers;
    this.wait = wait;
    this.changed = changed;
    this.rank = peers.rank();
    this.size = peers.size();
  }

  /** Makes the slots those of this operation. */
  ShmSlots in(OperationHeader header) {
    current = header;
    return this;
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public void publish(List<HostTensor> tensors) {
    // Who has published for the operation before is done with the one before that, whose slot this
    // is.
    if (!table.allPublished(operation)) {
      awaitPublished(() -> table.allPublished(operation), operation);
    }
    operation++;
    ByteBuffer slot = table.free(operation);
    for (int i = 0; i < tensors.size(); i++) {
      HostTensor tensor = tensors.get(i);
      tensor.read(0, (int) tensor.count(), slot);
    }
    table.publish(operation, current);
    changed.run();
  }

  @Override
  public ByteBuffer of(int peer) {
    if (!table.isPublished(peer, operation)) {
      awaited = peer;
      awaitPublished(() -> table.isPublished(awaited, operation), operation);
    }
    if (!table.isOf(peer, operation, current)) {
      throw MessageMismatch.between(peer, table.header(peer, operation), rank, current);
    }
    return table.data(peer, operation);
  }

  /**
   * Looks for a rank that has published for an operation in which this one is, or was, without
   * slots: it calls something else.
   *
   * @throws org.sparkcollectives.CollectiveMismatchException naming it
   */
  void checkPeers(OperationHeader mine) {
    long next = operation + 1;
    // Ranks compare an operation before they do it, under its number: a rank may be in it already.
    boolean compares = mine.type() == OpType.FINGERPRINT;
    long reached = compares ? mine.sequenceNumber() - 1 : mine.sequenceNumber();
    for (int peer = 0; peer < size; peer++) {
      // One that has published for the same is only ahead of this rank, which is about to.
      if (table.isPublished(peer, next) && !table.isOf(peer, next, mine)) {
        OperationHeader theirs = table.header(peer, next);
        if (theirs.sequenceNumber() <= reached) {
          throw MessageMismatch.between(peer, theirs, rank, mine);
        }
      }
    }
  }

  @Override
  public void awaitAll() {
    for (int distance = 1; distance < size; distance++) {
      of((rank + distance) % size);
    }
  }

  private void awaitPublished(BooleanSupplier published, long last) {
    wait.accept(
        () ->
            published.getAsBoolean()
                || (++polls % POLLS_PER_CHECK == 0 && mismatchedPeer(last) >= 0));
    int mismatched = published.getAsBoolean() ? -1 : mismatchedPeer(last);
    if (mismatched >= 0) {
      // Its message is not of this operation, in which nobody sends any: this throws.
      peers.pair(mismatched).receive(HostTensor.allocate(DType.UINT8, 0));
    }
  }

  /** Returns a peer that has sent a message although it has not published; -1 if none has. */
  private int mismatchedPeer(long last) {
    for (int peer = 0; peer < size; peer++) {
      // In this order: a rank that publishes first, and then sends, is ahead, and in no other.
      if (peer != rank && peers.pair(peer).hasMessage() && !table.isPublished(peer, last)) {
        return peer;
      }
    }
    return -1;
  }
}
