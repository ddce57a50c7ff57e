package org.sparkcollectives.faults;

import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;

/**
 * Decides which outcomes the other ranks may have after a fault.
 *
 * <ul>
 *   <li>A record of the victim, of a kind that fits the fault. In an endless phase no other outcome
 *       is allowed but those below.
 *   <li>Ranks in a rendezvous: a deadline that names the victim. If the victim had come to the
 *       store before it was hit, it is not missing there, and the deadline may name no rank.
 *   <li>The deadline of an operation for which a rank was too slow: the rank that is first overdue
 *       throws what it has found, and names the victim.
 *   <li>A broken connection has two ends, and each blames the other: the record names one of them,
 *       and its text names the victim.
 *   <li>Ranks that close the group: nothing, if their last operation was done before the fault.
 * </ul>
 */
final class Verdict {

  private Verdict() {}

  /** Returns whether a rank other than the victim may end so. */
  static boolean allows(FaultCase fault, Outcome outcome) {
    if (outcome.isWell()) {
      return fault.phase() == Phase.CLOSE;
    }
    if (outcome.exception().equals(PeerFailedException.class.getSimpleName())) {
      return namesVictim(fault, outcome) && fits(fault, Failure.Kind.valueOf(outcome.kind()));
    }
    if (outcome.exception().equals(GroupAbortedException.class.getSimpleName())) {
      // It is the end that the victim blames.
      return fault.fault() == Fault.RESET && namesVictim(fault, outcome);
    }
    if (!outcome.exception().equals(CollectiveTimeoutException.class.getSimpleName())) {
      return false;
    }
    if (fault.phase() == Phase.RENDEZVOUS) {
      return outcome.names(fault.victim()) || (outcome.namesNobody() && !fault.fault().isOwn());
    }
    return fault.fault() == Fault.SLOW && outcome.names(fault.victim());
  }

  private static boolean namesVictim(FaultCase fault, Outcome outcome) {
    return outcome.names(fault.victim())
        || (fault.fault() == Fault.RESET
            && outcome.message().contains("rank " + fault.victim() + " "));
  }

  private static boolean fits(FaultCase fault, Failure.Kind kind) {
    // A rank that has lost the store while it joined sends no heartbeat there.
    boolean withoutStore = fault.fault() == Fault.RESET && fault.phase() == Phase.RENDEZVOUS;
    return fault.fault().mayBeCalled(kind) || (withoutStore && kind == Failure.Kind.UNRESPONSIVE);
  }
}
