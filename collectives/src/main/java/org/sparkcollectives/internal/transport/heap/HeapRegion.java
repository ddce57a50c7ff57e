package org.sparkcollectives.internal.transport.heap;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.LentTensorException;
import org.sparkcollectives.internal.transport.MessageMismatch;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.store.Backoff;
import org.sparkcollectives.store.Deadline;

/**
 * The shared heap of those ranks of a group that are in one JVM, as one of them sees it. They are
 * numbered among themselves.
 */
public final class HeapRegion implements SharedRegion {

  private static final HostTensor NOTHING = HostTensor.allocate(DType.UINT8, 0);
  private static final Logger LOG = LoggerFactory.getLogger(HeapRegion.class);

  /**
   * The time for which a rank that abandons an operation waits for readers of memory outside of the
   * heap.
   */
  private static final Duration LONGEST_READ = Duration.ofSeconds(10);

  private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private final HeapGroup group;
  private final HeapPhases phases;
  private final int rank;
  private final int[] ranks;
  private final Progress progress;
  private final Supplier<OperationHeader> current;
  private final HeapMailbox[] incoming;
  private long operation;

  /** The last operation in which nobody reads this rank's tensors any more. */
  private long settled;

  private long progressPublished;

  /**
   * The region of a rank that has joined {@code group}.
   *
   * @param rank this rank, as the group numbers it
   * @param ranks the ranks in this JVM, as the group numbers them, in ascending order
   * @param progress where this rank waits, shared with its other paths
   * @param current the operation that this rank is in
   */
  public HeapRegion(
      HeapGroup group,
      int rank,
      int[] ranks,
      Progress progress,
      Supplier<OperationHeader> current) {
    this.group = group;
    this.phases = group.phases(ranks.length);
    this.rank = Arrays.binarySearch(ranks, rank);
    this.ranks = ranks.clone();
    this.incoming = new HeapMailbox[ranks.length];
    for (int peer = 0; peer < ranks.length; peer++) {
      incoming[peer] = group.mailbox(ranks[peer], rank);
    }
    this.progress = progress;
    this.current = current;
  }

  /**
   * Returns a path to another rank of this JVM.
   *
   * @param peer as the group numbers it
   */
  public Pair pair(int peer) {
    return new HeapPair(group, ranks[rank], peer, progress, current, this);
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return phases.size();
  }

  @Override
  public void publish(List<HostTensor> tensors) {
    progress.check();
    operation++;
    if (progressPublished != 0) {
      progressPublished = 0;
      phases.publishProgress(rank, 0);
    }
    phases.publish(rank, operation, new HeapPhases.Published(current.get(), tensors));
    wakeOthers();
    progress.await(() -> phases.allPublished(operation) || mismatchedPeer() >= 0);
    if (!phases.allPublished(operation)) {
      // A message from a rank that publishes nothing: it is in another operation, and is told so.
      pair(ranks[mismatchedPeer()]).receive(NOTHING);
    }
    for (int peer = 0; peer < size(); peer++) {
      OperationHeader theirs = phases.publishedBy(peer, operation).header();
      if (!theirs.equals(current.get())) {
        throw mismatch(peer, operation);
      }
    }
    settled = operation - 1;
    enter();
  }

  @Override
  public boolean mayWriteTo(int peer, int index) {
    if (!phases.enterToWrite(rank)) {
      awaitFailure();
    }
    return true;
  }

  private void enter() {
    if (!phases.enter(rank)) {
      awaitFailure();
    }
  }

  /** Waits for the failure of the group: another rank gave up and took its tensors back. */
  private void awaitFailure() {
    phases.exit(rank);
    progress.await(() -> false);
  }

  /** Returns a peer that has sent a message, as none does before all publish; -1 if none has. */
  private int mismatchedPeer() {
    for (int peer = 0; peer < incoming.length; peer++) {
      if (incoming[peer].hasMessage()) {
        return peer;
      }
    }
    return -1;
  }

  /**
   * Returns whether a rank publishes something that this one has not come to: while this one waits
   * for a message from it, it is in another operation.
   */
  boolean isAhead(int groupRank) {
    return phases.hasPublished(indexOf(groupRank), operation + 1);
  }

  /** Returns what is wrong if it {@link #isAhead}. */
  CollectiveMismatchException mismatchAhead(int groupRank) {
    return mismatch(indexOf(groupRank), operation + 1);
  }

  private int indexOf(int groupRank) {
    return Arrays.binarySearch(ranks, groupRank);
  }

  @Override
  public HostTensor publishedBy(int peer, int index, DType dtype, long count) {
    List<HostTensor> tensors = phases.publishedBy(peer, operation).tensors();
    HostTensor tensor = index < tensors.size() ? tensors.get(index) : null;
    if (tensor == null || tensor.dtype() != dtype || tensor.count() != count) {
      // It may have been taken back.
      check();
      throw MessageMismatch.ofTensor(
          ranks[peer],
          phases.publishedBy(peer, operation).header(),
          tensor == null ? null : tensor.dtype(),
          tensor == null ? -1 : tensor.count(),
          ranks[rank],
          current.get(),
          dtype,
          count);
    }
    return tensor;
  }

  private CollectiveMismatchException mismatch(int peer, long published) {
    return MessageMismatch.between(
        ranks[peer], phases.publishedBy(peer, published).header(), ranks[rank], current.get());
  }

  @Override
  public void publishProgress(long amount) {
    progressPublished = amount;
    phases.publishProgress(rank, amount);
    wakeOthers();
  }

  @Override
  public long progressOf(int peer) {
    return phases.progressOf(peer);
  }

  @Override
  public void awaitProgress(int peer, long amount) {
    if (phases.progressOf(peer) >= amount) {
      return;
    }
    phases.exit(rank);
    progress.await(() -> phases.progressOf(peer) >= amount || phases.isBroken());
    enter();
  }

  @Override
  public void check() {
    progress.check();
    if (phases.isBroken()) {
      awaitFailure();
    }
  }

  @Override
  public void finish() {
    leave();
    progress.await(() -> phases.allDone(operation));
    settled = operation;
    phases.forget(rank, operation);
    // Of a phase before, which ended without a wait: all have left it to come here.
    phases.forget(rank, operation - 1);
  }

  @Override
  public void leave() {
    phases.exit(rank);
    if (phases.mayHaveChanged(operation)) {
      awaitFailure();
    }
    phases.done(rank, operation);
    wakeOthers();
  }

  /**
   * Finds out whether an exception arose in a tensor that another rank publishes; before {@link
   * #abandon}.
   *
   * @throws LentTensorException if so
   */
  public void attribute(Throwable thrown) {
    for (int peer = 0; peer < size(); peer++) {
      HeapPhases.Published theirs = peer == rank ? null : phases.publishedBy(peer, operation);
      if (theirs != null) {
        for (HostTensor each : theirs.tensors()) {
          LentTensorException.throwIfArose(thrown, ranks[peer], each);
        }
      }
    }
  }

  /**
   * Abandons the operation after a failure: from now on this rank's tensors are the user's again.
   * Others who still read them fail. Waits until nobody writes to them, and, for ten seconds at the
   * most, until nobody reads memory outside of the heap. The region is of no use from then on.
   */
  public void abandon() {
    phases.giveUp(rank, settled + 1);
    awaitWriters();
    if (phases.publishesMemoryOutsideOfTheHeap(rank)) {
      awaitReaders();
    }
    phases.forgetAll(rank);
  }

  /**
   * Waits without a limit, because a tensor that another thread may still write to must not be
   * handed back. That thread computes, waits for nothing, and looks at the region after each tile
   * of some microseconds.
   */
  private void awaitWriters() {
    while (!awaitEnd(phases::someoneWrites)) {
      LOG.warn(
          "rank {} has failed in {}, and waits for a thread of another rank of this JVM that has"
              + " written to its tensors for more than {} s: is it stopped in a debugger?",
          ranks[rank],
          current.get(),
          LONGEST_READ.toSeconds());
    }
  }

  private void awaitReaders() {
    if (!awaitEnd(phases::someoneIsInside)) {
      LOG.warn(
          "rank {} has failed in {}, but another rank of this JVM has read its direct buffers for"
              + " {} s since: do not unmap them",
          ranks[rank],
          current.get(),
          LONGEST_READ.toSeconds());
    }
  }

  /** Waits until a condition has ended; returns false if it has not after ten seconds. */
  private boolean awaitEnd(BooleanSupplier condition) {
    return Backoff.every(POLL_NANOS)
        .until(() -> !condition.getAsBoolean(), Deadline.after(LONGEST_READ));
  }

  /** Wakes the other ranks, and lets them run. */
  private void wakeOthers() {
    boolean woken = false;
    for (int peer = 0; peer < size(); peer++) {
      if (peer != rank) {
        woken |= group.signal(ranks[peer]);
      }
    }
    if (woken) {
      progress.yieldToWoken();
    }
  }
}
