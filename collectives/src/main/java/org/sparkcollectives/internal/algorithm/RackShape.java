package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.RackOrder;

/**
 * The ranks of a call in racks, of which one is looked at.
 *
 * @param ranks how many ranks there are
 * @param perRack how many are in the rack
 * @param areDealt whether they can be dealt to the racks, see {@link RackOrder#dealt}
 * @param oversubscription how many times as much as leaves a rack its ranks can send
 */
record RackShape(int ranks, int perRack, boolean areDealt, double oversubscription) {

  static RackShape of(Locality racks, int perRack, double oversubscription) {
    return new RackShape(racks.size(), perRack, RackOrder.canDeal(racks), oversubscription);
  }

  /** Returns by how many bytes what each rank sends to any other is delayed. */
  long delayOfAll(long bytesOfEach) {
    double leaving = (double) (ranks - perRack) / Math.max(1, ranks - 1);
    return (long) (bytesOfEach * Math.max(0, leaving * oversubscription - 1));
  }

  /** Returns by how many bytes what some ranks of the rack send at once is delayed. */
  long delay(int senders, long bytesOfEach) {
    return (long) (bytesOfEach * Math.max(0, senders * oversubscription / perRack - 1));
  }
}
