package org.sparkcollectives;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.sparkcollectives.store.Store;

/**
 * A {@link ProcessGroup} whose rank, size and members change while its user keeps it: c10d's {@code
 * reconfigure}. It grows, shrinks, splits and merges by one call, and comes back after a failure,
 * an abort or a missed deadline, with the ranks that are left or with new ones.
 *
 * <p>It is made without waiting for anybody, see {@link ProcessGroups#reconfigurable}. Until the
 * first {@link #reconfigure} it has the rank and the size that it was made with, and no group:
 * operations throw {@link IllegalStateException}.
 *
 * <p><b>How to change the members</b>: each rank passes its {@link #handle()} to the others, which
 * the library does not do: use a store, or a collective of another group. All that are to be
 * members call {@link #reconfigure} with the same number and the same handles. Ranks that are left
 * out do nothing: their groups end when others leave them.
 *
 * <p><b>What a change does</b>. Each successful one makes a new group, named {@link #name()} and
 * {@code /reconfigured-} and the number. It is a world of its own: global ranks are its ranks,
 * sequence numbers begin at 0, and so do {@link #flightRecorder}, {@link #statistics} and {@link
 * #waits}. Errors, records, Spark's tab and its metrics show each of these groups under its own
 * name.
 *
 * <ul>
 *   <li>What stays: this object and its views of {@link #withTimeout}, which use the new group from
 *       then on; hooks of {@link #onCompletion}; what {@link #setNanCheck} and {@link
 *       #enableTiming} have set. These three may be called before the first change, too.
 *   <li>What ends with the group before: groups made from it, its {@link #store()}, memory of
 *       {@link #allocate} and {@link #allocateShared}, registered memory, {@link
 *       PersistentCollective}s, labels, and an extended timeout. Keep what must outlive a change in
 *       memory that belongs to no group, such as {@link Tensor#allocate}.
 *   <li>Checkpoints belong to the group with the same number in a later attempt of the stage, not
 *       to the one that follows.
 *   <li>Pending operations of the group before may still end well; await them first. It is closed
 *       in the background, as {@link ProcessGroup#close} does it.
 * </ul>
 *
 * <p>Several threads may use it, but only one at a time may change it. {@link #close()} and {@link
 * #abort} end a change that another thread waits in. {@code close} also waits for the groups that
 * are closed in the background.
 */
public interface ReconfigurableGroup extends ProcessGroup {

  /**
   * Returns the handle that identifies this member in the next {@link #reconfigure}: an opaque
   * string without spaces, different for each member, which changes with each successful {@code
   * reconfigure}. Does not block; may be called at any time.
   */
  String handle();

  /**
   * Makes a new group of some members, this one among them, in place of the present one. All of
   * them call it with the same arguments. Blocks until all have, for {@code timeout} or {@link
   * Store#timeout()} at the most, whichever is smaller; wakes when the rank is killed and by {@link
   * #close()} and {@link #abort}.
   *
   * <p>If it throws, rank, size and group are as before, and the handle still holds; after {@link
   * #abort} the group has failed. Other members that wait are told, and throw, too, unless all had
   * met by then: they return, and their new group fails. They may be told of different ranks if
   * several did not come: let one rank decide who is in the next list, and call it again with
   * another number. A member whose arguments are refused at once, or whose task has ended, is
   * missed at the end of the timeout.
   *
   * @param uuid a number for this change, which was not used before over the store with this {@link
   *     #name()}, not even by an attempt that failed; counting up is enough
   * @param handles one for each member; their order is that of the new ranks
   * @throws IllegalArgumentException if there is no handle, if one is malformed, there twice, or
   *     this rank's own is missing; if the number was used before, or another member gives other
   *     handles for it
   * @throws CollectiveTimeoutException naming the new ranks that did not come
   * @throws PeerFailedException naming a rank that came and gave up, or that another one has missed
   * @throws GroupAbortedException if the rank was killed meanwhile, or {@link #abort} was called
   * @throws IllegalStateException if this is closed, or another thread is in this call
   */
  void reconfigure(long uuid, List<String> handles, Duration timeout);

  /** Makes a new group, for the {@link #timeout()} at the most. */
  default void reconfigure(long uuid, List<String> handles) {
    reconfigure(uuid, handles, timeout());
  }

  /**
   * Makes a new group of members in no order, see {@link #reconfigure(long, List, Duration)}. Their
   * new ranks are in the order of the ranks that they were made with; of equal ones in an order
   * that is the same for all.
   */
  void reconfigure(long uuid, Set<String> handles, Duration timeout);

  /** Makes a new group of members in no order, for the {@link #timeout()} at the most. */
  default void reconfigure(long uuid, Set<String> handles) {
    reconfigure(uuid, handles, timeout());
  }
}
