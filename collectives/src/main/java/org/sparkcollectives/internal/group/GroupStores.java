package org.sparkcollectives.internal.group;

import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreLease;

/**
 * The stores that a rank uses on behalf of its user: the group's own keys, and those of its
 * checkpoints. When the group fails, calls that wait in them end, and so do all later calls of the
 * group itself. The user's later calls work until the group is closed or the rank is killed.
 */
final class GroupStores {

  private final StoreLease own;
  private final StoreLease user;
  private final Function<Deadline, Store> kept;
  private StoreLease checkpoints;
  private RuntimeException ended;

  /**
   * Creates the stores of a group.
   *
   * @param failed whether the group has failed, and nobody begins a wait without knowing it
   * @param kept where the checkpoints are; asked when they are used
   */
  GroupStores(Store groupStore, BooleanSupplier failed, Function<Deadline, Store> kept) {
    this.own = StoreLease.of(groupStore);
    this.user = StoreLease.of(groupStore, failed);
    this.kept = kept;
  }

  /** Returns the group's keys that are the user's. */
  Store user() {
    return user.store().withPrefix("user");
  }

  /** Returns the group's keys. */
  Store own() {
    return own.store();
  }

  /**
   * Returns where the group's checkpoints are. Blocks for a call or two the first time, until the
   * deadline at the most.
   */
  Store checkpoints(Deadline deadline) {
    synchronized (this) {
      if (checkpoints != null) {
        return checkpoints.store();
      }
    }
    // Called without the lock, so that a group that fails meanwhile does not wait for it.
    StoreLease lease = StoreLease.of(kept.apply(deadline));
    synchronized (this) {
      if (checkpoints == null) {
        checkpoints = lease;
      }
      if (ended != null) {
        checkpoints.revoke(ended);
      }
      return checkpoints.store();
    }
  }

  /** Ends the calls that wait, and all later ones. The first cause counts. Does not block. */
  void revoke(RuntimeException cause) {
    user.revoke(cause);
    fail(cause);
  }

  /**
   * Ends the calls that wait, and all later ones but the user's. The first cause counts. Does not
   * block.
   */
  void fail(RuntimeException cause) {
    user.wake(cause);
    own.revoke(cause);
    synchronized (this) {
      if (ended == null) {
        ended = cause;
      }
      if (checkpoints != null) {
        checkpoints.revoke(cause);
      }
    }
  }
}
