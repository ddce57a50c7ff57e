package org.sparkcollectives.group;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreLease;

/**
 * The stores that a rank uses on behalf of its user: the group's own keys, and where its
 * checkpoints are. Calls that wait in them end when the group fails, and so do all later ones of
 * the group itself; the user has its keys until the group is closed or the rank is killed.
 */
final class GroupStores {

  private final StoreLease own;
  private final StoreLease user;
  private final Supplier<Store> kept;
  private StoreLease checkpoints;
  private RuntimeException ended;

  /**
   * With the group's keys.
   *
   * @param failed whether the group has failed, and nobody begins a wait without knowing it
   * @param kept where the checkpoints are; asked when they are used
   */
  GroupStores(Store groupStore, BooleanSupplier failed, Supplier<Store> kept) {
    this.own = StoreLease.of(groupStore);
    this.user = StoreLease.of(groupStore, failed);
    this.kept = kept;
  }

  /** The group's keys that are the user's. */
  Store user() {
    return user.store().withPrefix("user");
  }

  /** The group's keys. */
  Store own() {
    return own.store();
  }

  /** Where the group's checkpoints are. Blocks for a call or two the first time. */
  Store checkpoints() {
    synchronized (this) {
      if (checkpoints != null) {
        return checkpoints.store();
      }
    }
    // Not under the lock: a group that fails meanwhile does not wait for it.
    StoreLease lease = StoreLease.of(kept.get());
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

  /** Ends the calls that wait, and all that follow. The first cause counts. Does not block. */
  void revoke(RuntimeException cause) {
    user.revoke(cause);
    fail(cause);
  }

  /** The same, but the user's calls go on from then on. */
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
