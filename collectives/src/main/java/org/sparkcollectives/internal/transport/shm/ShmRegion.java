package org.sparkcollectives.internal.transport.shm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.MessageMismatch;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.PolledMemory;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.internal.transport.SharedSlots;
import org.sparkcollectives.internal.transport.SharedStaging;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Memory that ranks of one host see, as one of them sees it: tensors that the group has allocated
 * are reduced where they lie, without a copy, small ones go through slots, and all others can pass
 * through staging buffers chunk by chunk.
 *
 * <p>In each operation that is too large for slots, the ranks find out whether all of them work on
 * tensors of the group: each publishes descriptors of its own, in a table that rank 0 makes at the
 * first of these operations.
 */
public final class ShmRegion implements SharedRegion, PolledMemory {

  /** Operations in which each rank gives no more than the elements on which all agree. */
  static final Set<OpType> AGREED =
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

  private final SharedTensors tensors;
  private final Peers peers;
  private final int rank;
  private final int size;
  private final Progress progress;
  private final Doorbell bell;
  private final Supplier<OperationHeader> inOperation;

  /** Whether the ranks have found that they share no memory. */
  private volatile boolean refused;

  private volatile boolean stages;
  private SharedFile file;
  private SleepFlags sleepers;
  private DescriptorTable descriptors;
  private ShmSlots slots;
  private ShmStaging staging;
  private long staged = NONE;
  private boolean asked;
  private boolean waiting;
  private long operation;

  /** The last operation in which nobody reads this rank's tensors any more. */
  private long settled;

  private long progressPublished;
  private OperationHeader current;

  /**
   * Creates the region of a rank whose group is on one host.
   *
   * @param tensors what this rank allocates for its neighbours
   * @param peers the ranks, which agree by messages on the memory that they share
   * @param stages whether tensors that lie elsewhere pass through memory that all ranks see
   * @param progress where this rank waits, shared with its other paths
   * @param bell wakes ranks of other JVMs, and this one
   * @param inOperation the operation that this rank is in
   */
  public ShmRegion(
      SharedTensors tensors,
      Peers peers,
      boolean stages,
      Progress progress,
      Doorbell bell,
      Supplier<OperationHeader> inOperation) {
    this.tensors = tensors;
    this.peers = peers;
    this.rank = peers.rank();
    this.size = peers.size();
    this.stages = stages;
    this.progress = progress;
    this.bell = bell;
    this.inOperation = inOperation;
  }

  /** Returns the operation that this rank is in. */
  OperationHeader inOperation() {
    return inOperation.get();
  }

  /** Returns this region, if all ranks publish tensors in it for this operation; else null. */
  public SharedRegion regionFor(OperationHeader header, List<HostTensor> published) {
    if (size == 1 || header.count() * header.dtype().bytes() <= SharedSlots.MOST_BYTES) {
      return null;
    }
    agree();
    if (descriptors == null) {
      return null;
    }
    current = header;
    operation++;
    if (progressPublished != 0) {
      progressPublished = 0;
      descriptors.setProgress(0);
    }
    tensors.releaseClosed();
    descriptors.publish(operation, header, tensors.describe(published));
    sleepers.changed();
    await(() -> descriptors.allPublished(operation) || mismatchedPeer() >= 0);
    if (!descriptors.allPublished(operation)) {
      // Before all have published, nobody sends anything in this operation: that peer is in
      // another.
      peers.pair(mismatchedPeer()).receive(HostTensor.allocate(DType.UINT8, 0));
    }
    settled = operation - 1;
    if (descriptors.isShared(operation, header)) {
      return this;
    }
    descriptors.done(operation);
    sleepers.changed();
    staged = descriptors.isSame(operation, header) ? header.sequenceNumber() : NONE;
    return null;
  }

  /**
   * Returns memory with undefined contents that can be published, the same each time; others may
   * not see it.
   */
  public HostTensor publishable(DType dtype, long count) {
    return tensors.publishable(dtype, count);
  }

  /** Returns the buffers for this operation, for which {@link #regionFor} gave null; or null. */
  public SharedStaging stagingFor(OperationHeader header) {
    if (!stages || header.sequenceNumber() != staged) {
      return null;
    }
    if (staging == null) {
      SharedFile buffers = AgreedFile.of(peers, tensors.folder(), ShmStaging.bytes(size));
      stages = buffers != null;
      staging = stages ? new ShmStaging(buffers, rank, size, this::await, sleepers::changed) : null;
    }
    return staging;
  }

  /**
   * Returns whether tensors that lie elsewhere pass through staging buffers, as far as is known.
   * May be called on any thread.
   */
  boolean stages() {
    return stages;
  }

  /**
   * Returns whether the ranks have found that they share no memory. May be called on any thread.
   */
  boolean isRefused() {
    return refused;
  }

  /** Returns whether an operation may publish this many tensors. May be called on any thread. */
  boolean canPublish(int count) {
    return count <= DescriptorTable.MOST_TENSORS;
  }

  /** Returns whether the other ranks can see these tensors. May be called on any thread. */
  boolean sees(List<HostTensor> own) {
    return tensors.describe(own) != null;
  }

  /** Returns the slots for this operation; null if it is too large for them. */
  public SharedSlots slotsFor(OperationHeader header) {
    if (size == 1
        || header.count() * header.dtype().bytes() > SharedSlots.MOST_BYTES
        || !AGREED.contains(header.type())) {
      return null;
    }
    agree();
    return slots == null ? null : slots.in(header);
  }

  /** Makes what all ranks see, at the first operation that needs it. */
  private void agree() {
    if (asked) {
      return;
    }
    asked = true;
    int tableBytes = DescriptorTable.bytes(size);
    int slotBytes = SlotTable.bytes(size);
    file = AgreedFile.of(peers, tensors.folder(), tableBytes + slotBytes + SleepFlags.bytes(size));
    refused = file == null;
    if (file != null) {
      ByteBuffer memory = file.memory();
      descriptors = new DescriptorTable(memory, rank, size);
      ByteBuffer rest = memory.position(tableBytes).slice().order(ByteOrder.nativeOrder());
      ByteBuffer last =
          memory.position(tableBytes + slotBytes).slice().order(ByteOrder.nativeOrder());
      sleepers = new SleepFlags(last, rank, size, bell, progress::yieldToWoken);
      slots = new ShmSlots(new SlotTable(rest, rank, size), peers, this::await, sleepers::changed);
      progress.whenIdle(() -> slots.checkPeers(inOperation.get()));
    }
  }

  /** Returns a peer that has sent something, and so is in another operation; -1 if none has. */
  private int mismatchedPeer() {
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
  public void publish(List<HostTensor> published) {
    // They were published when the region was asked for.
    progress.check();
  }

  @Override
  public HostTensor publishedBy(int peer, int index, DType dtype, long count) {
    DescriptorTable.Descriptor published = descriptors.descriptor(peer, operation, index);
    if (published == null || published.dtype() != dtype || published.count() != count) {
      throw MessageMismatch.ofTensor(
          peer,
          current,
          published == null ? null : published.dtype(),
          published == null ? -1 : published.count(),
          rank,
          current,
          dtype,
          count);
    }
    return tensors.see(published);
  }

  @Override
  public boolean mayWriteTo(int peer, int index) {
    // Nobody can wait for a process that is stopped, and so only where it does no harm later.
    DescriptorTable.Descriptor published = descriptors.descriptor(peer, operation, index);
    return published != null && published.scratch();
  }

  @Override
  public void publishProgress(long amount) {
    progressPublished = amount;
    descriptors.setProgress(amount);
    sleepers.changed();
  }

  @Override
  public long progressOf(int peer) {
    return descriptors.progress(peer);
  }

  @Override
  public void awaitProgress(int peer, long amount) {
    if (descriptors.progress(peer) < amount) {
      await(() -> descriptors.progress(peer) >= amount);
    }
  }

  @Override
  public void check() {
    progress.check();
  }

  @Override
  public void finish() {
    leave();
    await(() -> descriptors.allDone(operation));
    settled = operation;
  }

  @Override
  public void leave() {
    if (descriptors.mayHaveChanged(operation)) {
      // A rank gave up and took its tensors back; that the group has failed is on its way.
      await(() -> false);
    }
    descriptors.done(operation);
    sleepers.changed();
  }

  /**
   * Abandons the operation after a failure: from now on this rank's tensors are the user's again,
   * and who has read them since fails, too. The region is of no use from then on.
   */
  public void abandon() {
    if (descriptors != null) {
      descriptors.giveUp(settled + 1);
    }
  }

  /**
   * Unmaps what all see, and what the others have published; when no thread can touch it any more.
   */
  public void free() {
    if (file != null) {
      file.close();
    }
    if (staging != null) {
      staging.free();
    }
    tensors.freeNeighbours();
  }
}
