package org.sparkcollectives.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Backend;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreLease;

/** All that one rank holds of one group, and in what order it is let go. */
final class RankGroup {

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration PUBLISH_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration RUNNER_TIMEOUT = Duration.ofSeconds(10);
  private static final long DRAIN_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final Logger LOG = LoggerFactory.getLogger(RankGroup.class);

  private final Membership members;
  private final GroupLife life;
  private final Backend backend;
  private final Channel channel;
  private final Store groupStore;
  private final StoreLease userStore;
  private final Runnable afterClose;
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * Of parts that are ready to use.
   *
   * @param groupStore the group's keys
   * @param afterClose lets go of what the group was made with
   */
  RankGroup(
      Membership members,
      GroupLife life,
      Backend backend,
      Channel channel,
      Store groupStore,
      Runnable afterClose) {
    this.members = members;
    this.life = life;
    this.backend = backend;
    this.channel = channel;
    this.groupStore = groupStore;
    this.userStore = StoreLease.of(groupStore.withPrefix("user"));
    life.failure()
        .onFailure(
            () ->
                userStore.revoke(
                    new StoreException(
                        "The store of group \"" + name() + "\" has ended with the group",
                        life.failure().exceptionFor("the use of the group's store"))));
    this.afterClose = afterClose;
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

  GroupLife life() {
    return life;
  }

  Backend backend() {
    return backend;
  }

  Store userStore() {
    return userStore.store();
  }

  /** Refuses to begin anything in a group that is closed or has failed. */
  void requireOpen() {
    if (closed.get()) {
      throw new IllegalStateException(
          "Group \"" + name() + "\" is closed on rank " + rank() + "; nothing can be begun in it");
    }
    if (life.failure().failed()) {
      throw life.failure().exceptionFor("an operation");
    }
  }

  void close(Duration timeout) {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      drain(timeout);
      sayGoodbye();
    } finally {
      life.look();
      userStore.revoke(
          new IllegalStateException("Group \"" + name() + "\" is closed on rank " + rank()));
      awaitRunner();
      backend.close();
      life.close();
      removeKeysIfLast();
      afterClose.run();
    }
  }

  /** What was begun may end, unless the group has failed or the time is over. */
  private void drain(Duration timeout) {
    long start = System.nanoTime();
    while (life.hasPending() && !life.failure().failed()) {
      if (System.nanoTime() - start > timeout.toNanos()) {
        life.abort(
            new IllegalStateException(
                "rank " + rank() + " closed the group while operations were pending"));
        return;
      }
      channel.runNeglected();
      LockSupport.parkNanos(this, DRAIN_LOOK_NANOS);
    }
  }

  /** Paths are not taken away under the thread that uses them; in a failed group it ends soon. */
  private void awaitRunner() {
    long start = System.nanoTime();
    while (channel.isRunning()) {
      if (System.nanoTime() - start > RUNNER_TIMEOUT.toNanos()) {
        LOG.warn("{} is closed while an operation still runs", life);
        return;
      }
      LockSupport.parkNanos(this, DRAIN_LOOK_NANOS);
    }
  }

  private void sayGoodbye() {
    if (life.failure().failed()) {
      life.awaitPublished(PUBLISH_TIMEOUT);
      return;
    }
    try {
      life.leave(channel.lastSequenceNumber());
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("{} could not say that it leaves: {}", life, e.toString());
    }
  }

  /** Ranks that left without a word leave the keys too: then they go with the store. */
  private void removeKeysIfLast() {
    Store store = groupStore.withTimeout(STORE_TIMEOUT);
    try {
      if (store.add("closed", 1) == size()) {
        List<String> keys = store.listKeys();
        keys.forEach(store::deleteKey);
      }
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("{} could not remove its keys: {}", life, e.toString());
    }
  }
}
