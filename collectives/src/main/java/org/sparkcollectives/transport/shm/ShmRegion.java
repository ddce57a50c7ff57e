package org.sparkcollectives.transport.shm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.MessageMismatch;
import org.sparkcollectives.transport.OperationHeader;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.PolledMemory;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.transport.SharedRegion;
import org.sparkcollectives.transport.SharedSlots;
import org.sparkcollectives.transport.SharedStaging;

/**
 * Memory that ranks of one host see, as one of them sees it: tensors that the group has allocated
 * are reduced where they lie, without a copy, small ones go through slots, and all others can pass
 * through rooms chunk by chunk.
 *
 * <p>Whether all ranks work on tensors of the group is asked for each operation that is too large
 * for slots, on a board that rank 0 makes at the first of them.
 */
public final class ShmRegion implements SharedRegion, PolledMemory {

  /** Operations in which each rank gives no more than the elements on which all agree. */
  private static final Set<OpType> AGREED =
      EnumSet.of(
          OpType.ALL_REDUCE,
          OpType.REDUCE,
          OpType.BROADCAST,
          OpType.ALL_GATHER_INTO,
          OpType.ALL_GATHER,
          OpType.REDUCE_SCATTER_INTO,
          OpType.REDUCE_SCATTER,
          OpType.ALL_TO_ALL_INTO,
          OpType.BARRIER);

  private static final long NONE = -1;

  private final Path folder;
  private final SharedTensors tensors;
  private final int rank;
  private final int size;
  private final Progress progress;
  private final Doorbell bell;
  private final Supplier<OperationHeader> inOperation;
  private SharedFile file;
  private SleepFlags sleepers;
  private SharedBoard board;
  private ShmSlots slots;
  private ShmStaging staging;
  private long staged = NONE;
  private boolean stages;
  private boolean asked;
  private boolean waiting;
  private long operation;

  /** The last operation in which nobody reads this rank's tensors any more. */
  private long settled;

  private long published;
  private OperationHeader current;

  /**
   * The region of a rank whose group is on one host.
   *
   * @param stages whether tensors that lie elsewhere pass through memory that all ranks see
   * @param progress where this rank waits, shared with its other paths
   * @param bell wakes ranks of other JVMs, and this one
   * @param inOperation the operation that this rank is in
   */
  public ShmRegion(
      Path folder,
      SharedTensors tensors,
      int rank,
      int size,
      boolean stages,
      Progress progress,
      Doorbell bell,
      Supplier<OperationHeader> inOperation) {
    this.folder = folder;
    this.tensors = tensors;
    this.rank = rank;
    this.size = size;
    this.stages = stages;
    this.progress = progress;
    this.bell = bell;
    this.inOperation = inOperation;
  }

  /** This region, if all ranks show tensors in it for this operation; else null. */
  public SharedRegion regionFor(Peers peers, OperationHeader header, List<HostTensor> shown) {
    if (size == 1 || header.count() * header.dtype().bytes() <= SharedSlots.MOST_BYTES) {
      return null;
    }
    meet(peers);
    if (board == null) {
      return null;
    }
    current = header;
    operation++;
    if (published != 0) {
      published = 0;
      board.publish(0);
    }
    tensors.releaseClosed();
    board.show(operation, header, tensors.describe(shown));
    sleepers.changed();
    await(() -> board.allShow(operation) || stranger(peers) >= 0);
    if (!board.allShow(operation)) {
      // Before all have shown, nobody sends anything in this operation: that rank is in another.
      peers.pair(stranger(peers)).receive(HostTensor.allocate(DType.UINT8, 0));
    }
    settled = operation - 1;
    if (board.isShared(operation, header)) {
      return this;
    }
    board.done(operation);
    sleepers.changed();
    staged = board.isSame(operation, header) ? header.sequenceNumber() : NONE;
    return null;
  }

  /**
   * Memory with undefined contents that can be shown, the same each time; others may not see it.
   */
  public HostTensor showable(DType dtype, long count) {
    return tensors.showable(dtype, count);
  }

  /** The rooms for this operation, for which all ranks have asked {@link #regionFor}; or null. */
  public SharedStaging stagingFor(Peers peers, OperationHeader header) {
    if (!stages || header.sequenceNumber() != staged) {
      return null;
    }
    if (staging == null) {
      SharedFile rooms = AgreedFile.of(peers, folder, ShmStaging.bytes(size));
      stages = rooms != null;
      staging = stages ? new ShmStaging(rooms, rank, size, this::await, sleepers::changed) : null;
    }
    return staging;
  }

  /** The slots for this operation; null if it is too large for them. */
  public SharedSlots slotsFor(Peers peers, OperationHeader header) {
    if (size == 1
        || header.count() * header.dtype().bytes() > SharedSlots.MOST_BYTES
        || !AGREED.contains(header.type())) {
      return null;
    }
    meet(peers);
    return slots == null ? null : slots.in(header);
  }

  /** Makes what all ranks see, at the first operation that needs it. */
  private void meet(Peers peers) {
    if (asked) {
      return;
    }
    asked = true;
    int boardBytes = SharedBoard.bytes(size);
    int slotBytes = SlotTable.bytes(size);
    file = AgreedFile.of(peers, folder, boardBytes + slotBytes + SleepFlags.bytes(size));
    if (file != null) {
      ByteBuffer memory = file.memory();
      board = new SharedBoard(memory, rank, size);
      ByteBuffer rest = memory.position(boardBytes).slice().order(ByteOrder.nativeOrder());
      ByteBuffer last =
          memory.position(boardBytes + slotBytes).slice().order(ByteOrder.nativeOrder());
      sleepers = new SleepFlags(last, rank, size, bell);
      slots = new ShmSlots(new SlotTable(rest, rank, size), peers, this::await, sleepers::changed);
      progress.whenIdle(() -> slots.checkPeers(inOperation.get()));
    }
  }

  /** A rank that has sent something; -1 if none has. */
  private int stranger(Peers peers) {
    for (int peer = 0; peer < size; peer++) {
      if (peer != rank && peers.pair(peer).hasMessage()) {
        return peer;
      }
    }
    return -1;
  }

  private void await(BooleanSupplier condition) {
    waiting = true;
    try {
      progress.await(condition);
    } finally {
      waiting = false;
    }
  }

  @Override
  public boolean isAwaited() {
    return waiting;
  }

  @Override
  public boolean announceSleep() {
    return sleepers.set();
  }

  @Override
  public void retractSleep() {
    sleepers.clear();
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
  public void show(List<HostTensor> shown) {
    // They were shown when the region was asked for.
    progress.check();
  }

  @Override
  public HostTensor shownBy(int peer, int index, DType dtype, long count) {
    SharedBoard.Shown shown = board.shownBy(peer, operation, index);
    if (shown == null || shown.dtype() != dtype || shown.count() != count) {
      throw new CollectiveMismatchException(
          "rank "
              + peer
              + " is in "
              + current
              + " with "
              + (shown == null ? "no such tensor" : shown.dtype().label() + " x " + shown.count())
              + ", but rank "
              + rank
              + " expects "
              + dtype.label()
              + " x "
              + count
              + ". "
              + MessageMismatch.ADVICE,
          List.of(
              MessageMismatch.call(peer, current).withCount(shown == null ? -1 : shown.count()),
              MessageMismatch.call(rank, current).withCount(count)));
    }
    return tensors.see(shown);
  }

  @Override
  public boolean mayWriteToOthers() {
    // Nobody can wait for a process that is stopped.
    return false;
  }

  @Override
  public void publish(long amount) {
    published = amount;
    board.publish(amount);
    sleepers.changed();
  }

  @Override
  public long published(int peer) {
    return board.published(peer);
  }

  @Override
  public void awaitPublished(int peer, long amount) {
    if (board.published(peer) < amount) {
      await(() -> board.published(peer) >= amount);
    }
  }

  @Override
  public void check() {
    progress.check();
  }

  @Override
  public void finish() {
    leave();
    await(() -> board.allDone(operation));
    settled = operation;
  }

  @Override
  public void leave() {
    if (board.mayHaveChanged(operation)) {
      // A rank gave up and took its tensors back; that the group has failed is on its way.
      await(() -> false);
    }
    board.done(operation);
    sleepers.changed();
  }

  /**
   * Gives up after a failure: from now on this rank's tensors are the user's again, and who has
   * read them since fails, too. The region is of no use from then on.
   */
  public void abandon() {
    if (board != null) {
      board.giveUp(settled + 1);
    }
  }

  /** Unmaps what all see; when no thread can touch it any more. */
  public void free() {
    if (file != null) {
      file.close();
    }
    if (staging != null) {
      staging.free();
    }
  }
}
