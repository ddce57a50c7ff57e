package org.sparkcollectives.internal.group;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.internal.engine.OperationQueue;
import org.sparkcollectives.internal.failure.ClosingTime;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.internal.work.RunAll;
import org.sparkcollectives.object.ObjectCodec;
import org.sparkcollectives.store.Backoff;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreLease;
import org.sparkcollectives.store.StoreTimeoutException;

/** Owns all that one rank holds of one group, and releases it in the right order. */
final class RankGroup {

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration PUBLISH_TIMEOUT = Duration.ofSeconds(2);

  /**
   * The time in which the store of a failed group must answer; the store may be what was cut off.
   */
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(1);

  private static final long DRAIN_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final Logger LOG = LoggerFactory.getLogger(RankGroup.class);

  private final Membership members;
  private final GroupMonitor monitor;
  private final GroupOptions options;
  private final Backends backends;
  private final Subgroups subgroups;
  private final OperationQueue queue;
  private final Store keys;
  private final StoreLease lease;
  private final GroupStores stores;
  private final CoalescingBlocks coalescing;
  private final ObjectCodec objectCodec;
  private final AtomicLong monitoredBarriers = new AtomicLong();
  private final GroupStatistics.Paths paths;
  private final Runnable afterClose;
  private volatile boolean nanCheck;

  /** Used by the thread that closes the group. */
  private boolean storeGivenUp;

  /**
   * Creates the group from its parts.
   *
   * @param queue of the group's collectives
   * @param options with every setting resolved
   * @param keys of the group; the last rank removes them
   * @param lease of these keys, through which the group uses them
   * @param assembly makes groups from this one
   * @param paths over which this rank reaches the others, for its statistics
   * @param afterClose releases what the group was made with
   */
  RankGroup(
      OperationQueue queue,
      GroupOptions options,
      Backends backends,
      Store keys,
      StoreLease lease,
      Subgroups.Assembly assembly,
      GroupStatistics.Paths paths,
      Runnable afterClose) {
    this.queue = queue;
    this.monitor = queue.monitor();
    this.members = monitor.members();
    this.options = options;
    this.nanCheck = options.nanCheck().orElseThrow();
    this.backends = backends;
    this.keys = keys;
    this.lease = lease;
    Store groupStore = lease.store();
    this.subgroups = new Subgroups(members, options, monitor, backends, groupStore, assembly);
    this.paths = paths;
    this.afterClose = afterClose;
    this.stores = new GroupStores(groupStore, monitor.state()::failed, assembly::checkpoints);
    this.coalescing = new CoalescingBlocks(members.name());
    this.objectCodec = assembly.context().objectCodec();
    monitor
        .state()
        .onFailure(
            () ->
                stores.fail(
                    new StoreException(
                        "The wait in the store of group \""
                            + name()
                            + "\" has ended with the group",
                        monitor.state().exceptionFor("the use of the group's store"))));
    monitor.onKilled(
        reason ->
            stores.revoke(
                new StoreException(
                    "The store of group \""
                        + name()
                        + "\" has ended on rank "
                        + rank()
                        + ", whose task was killed: "
                        + reason)));
  }

  String name() {
    return members.name();
  }

  int rank() {
    return members.rank();
  }

  int size() {
    return members.size();
  }

  Membership members() {
    return members;
  }

  GroupMonitor monitor() {
    return monitor;
  }

  GroupOptions options() {
    return options;
  }

  Backends backends() {
    return backends;
  }

  /** Returns whether operations in host memory check for NaNs. */
  boolean nanCheck() {
    return nanCheck;
  }

  /** Turns the check for NaNs on or off, in all backends. */
  void setNanCheck(boolean enabled) {
    nanCheck = enabled;
    backends.all().forEach(each -> each.setNanCheck(enabled));
  }

  /** Returns the groups made from this one. */
  Subgroups subgroups() {
    return subgroups;
  }

  /** Returns the stores that end with the group. */
  GroupStores stores() {
    return stores;
  }

  Store userStore() {
    return stores.user();
  }

  /** Returns the blocks of operations that are open. */
  CoalescingBlocks coalescing() {
    return coalescing;
  }

  /** Returns how this rank's objects become bytes. */
  ObjectCodec objectCodec() {
    return objectCodec;
  }

  /** Sums up the operations of this rank. */
  GroupStatistics statistics() {
    return monitor.statistics(paths);
  }

  /**
   * Keeps what the program says of its progress.
   *
   * @throws IllegalArgumentException if it makes no sense
   */
  void progress(long done, long total, String text) {
    if (total <= 0 || done < 0 || done > total) {
      throw new IllegalArgumentException(
          "Rank "
              + rank()
              + " of group \""
              + name()
              + "\" cannot have done "
              + done
              + " of "
              + total
              + ": give a total of 1 or more, and how much of it is done, from 0 to the total");
    }
    monitor.records().progress(new GroupStatistics.Progress(done, total, text));
  }

  void monitoredBarrier(Duration timeout, boolean waitAllRanks) {
    new MonitoredBarrier(members, stores.own(), monitoredBarriers.getAndIncrement())
        .await(timeout, waitAllRanks);
  }

  /**
   * Returns this group, or the open one of this name that was made from it, directly or not; or
   * null.
   */
  RankGroup find(String name) {
    if (name().equals(name)) {
      return this;
    }
    for (RankGroup each : subgroups.open()) {
      RankGroup found = each.find(name);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** Returns the names that {@link #find} finds. */
  List<String> names() {
    List<String> names = new ArrayList<>();
    names.add(name());
    subgroups.open().forEach(each -> names.addAll(each.names()));
    return names;
  }

  /** Refuses to begin anything in a group that is closed or has failed. */
  void requireOpen() {
    requireNotClosed();
    if (monitor.state().failed()) {
      throw monitor.state().exceptionFor("an operation");
    }
  }

  /** Refuses to begin what a failed group still can do, but a closed one cannot. */
  void requireNotClosed() {
    monitor.requireNotClosed();
  }

  /** Ends the group, and those made from it, on every rank. */
  void abort(Throwable cause) {
    monitor.reports().abort(cause);
    subgroups.abort(cause);
  }

  /** Closes the group, and those made from it, which share the time. */
  void close(ClosingTime time) {
    monitor.logContext().run(() -> closeAll(time));
  }

  private void closeAll(ClosingTime time) {
    if (!monitor.state().beginClose(time)) {
      return;
    }
    RunAll.of(
        () -> subgroups.close(time),
        () -> time.pending().spend(this::drain),
        this::leave,
        monitor::poll,
        () -> stores.revoke(closed()),
        () -> time.threads().spend(this::awaitRunner),
        backends::close,
        () -> time.threads().spend(deadline -> monitor.completionHooks().await(deadline.left())),
        monitor::close,
        this::removeKeysIfLast,
        afterClose);
  }

  /**
   * Waits for pending operations to end, unless the group has failed, and until it is known what a
   * failing group fails with; aborts them when the time is over.
   */
  private void drain(Deadline deadline) {
    Backoff backoff = Backoff.every(DRAIN_LOOK_NANOS);
    while (!monitor.state().failed() && (monitor.hasPending() || monitor.state().isFailing())) {
      if (deadline.isOver()) {
        abortPending();
        return;
      }
      queue.runNeglected();
      backoff.pause();
    }
  }

  private void abortPending() {
    monitor
        .reports()
        .abort(
            new IllegalStateException(
                "rank " + rank() + " closed the group while operations were pending"));
  }

  /**
   * Waits until no thread uses the paths and nothing is pending, so that they can be closed. Only a
   * failed group still has such work, which ends soon.
   */
  private void awaitRunner(Deadline deadline) {
    queue.close();
    Backoff backoff = Backoff.every(DRAIN_LOOK_NANOS);
    while (queue.isRunning() || monitor.hasPending()) {
      if (monitor.state().failed()) {
        // The watchdog cannot do this, because it soon stops polling this group.
        monitor.failPending();
      }
      if (deadline.isOver()) {
        LOG.warn("{} is closed while an operation still runs", monitor);
        return;
      }
      backoff.pause();
    }
  }

  /** Returns the time in which the store must answer. */
  private Duration patience() {
    return monitor.state().failed() ? ANSWER_TIMEOUT : STORE_TIMEOUT;
  }

  private void leave() {
    if (monitor.isStoreSilent(patience())) {
      giveUpStore("nothing is heard of it");
      return;
    }
    boolean published = !monitor.state().failed() || monitor.awaitPublished(ANSWER_TIMEOUT);
    try {
      monitor
          .storeSilence()
          .observe(patience(), deadline -> monitor.leave(queue.lastSequenceNumber(), deadline));
      if (!published && !monitor.awaitPublished(PUBLISH_TIMEOUT)) {
        LOG.warn("{} could not publish its failure within {}", monitor, PUBLISH_TIMEOUT);
      }
    } catch (StoreConnectionException | StoreTimeoutException e) {
      giveUpStore(e.getMessage());
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("{} could not say that it leaves: {}", monitor, e.toString());
    }
  }

  /**
   * Ends all calls of this group in its store, so that the remaining steps of the close do not wait
   * for it.
   */
  private void giveUpStore(String why) {
    LOG.warn("{} is closed without its store: {}", monitor, why);
    storeGivenUp = true;
    lease.revoke(closed());
  }

  private IllegalStateException closed() {
    return new IllegalStateException("Group \"" + name() + "\" is closed on rank " + rank());
  }

  /**
   * Removes the group's keys if this is the last rank. Where a rank was lost, or could not tell the
   * others of its failure yet, the keys stay until the store is closed.
   */
  private void removeKeysIfLast() {
    if (storeGivenUp || monitor.isStoreSilent(patience())) {
      return;
    }
    // A call that still runs must not write a key once they have been removed.
    Deadline ending = Deadline.after(patience());
    if (!monitor.awaitPublished(ending.left()) || !lease.end(closed(), ending)) {
      return;
    }
    try {
      monitor
          .storeSilence()
          .observe(patience(), deadline -> removeKeysIfLast(deadline.bound(keys), size()));
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("{} could not remove its keys: {}", monitor, e.toString());
    }
  }

  /** Removes the group's keys if all ranks but this one have come so far that they need none. */
  static void removeKeysIfLast(Store store, int size) {
    if (store.add("closed", 1) == size) {
      store.deleteKeys(store.listKeys());
    }
  }
}
