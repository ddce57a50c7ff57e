package org.sparkcollectives.internal.algorithm;

/**
 * The price of what leaves a rack.
 *
 * @param steps the messages between racks in the longest chain of messages that wait for each other
 * @param delay the bytes that take as long to send in a rack as what leaves it takes longer than
 *     there
 */
record Crossing(long steps, long delay) {

  /** Returns that of an algorithm whose ranks send each other about as much. */
  static Crossing ofAll(RackShape racks, Cost cost) {
    return new Crossing(cost.steps(), racks.delayOfAll(cost.bytes()));
  }

  /** Returns that of an algorithm whose ranks only send to the next: one of each rack sends out. */
  static Crossing ofRing(RackShape racks, Cost cost) {
    long racksOfAll = (racks.ranks() + racks.perRack() - 1L) / racks.perRack();
    long crossings = cost.steps() * racksOfAll;
    return new Crossing(
        (crossings + racks.ranks() - 1) / racks.ranks(), racks.delay(1, cost.bytes()));
  }

  /** The bytes that a rank sends so far ahead, or behind. */
  @FunctionalInterface
  interface Step {
    long bytes(int distance);
  }

  /**
   * Returns that of steps whose distance doubles, in which each rank sends. Where ranks are dealt
   * to the racks, those cross that are shorter than the number of racks.
   */
  static Crossing ofDealt(RackShape racks, int ranks, Step step) {
    int racksOfAll = racks.ranks() / racks.perRack();
    long steps = 0;
    long delay = 0;
    for (int distance = 1; distance < ranks; distance *= 2) {
      if (!racks.areDealt()) {
        steps++;
        delay += racks.delayOfAll(step.bytes(distance));
      } else if (distance < racksOfAll) {
        steps++;
        delay += racks.delay(racks.perRack(), step.bytes(distance));
      }
    }
    // What leaves a rack last delays its receiver, and so the later steps of others, as long again.
    return new Crossing(steps, 2 * delay);
  }

  /**
   * Returns that of pairs that exchange as much, at distances that double: none crosses that is
   * shorter than a rack whose size it divides.
   */
  static Crossing ofPairs(RackShape racks, PowerOfTwo core, Step step) {
    int perRack = racks.perRack();
    long steps = 0;
    long delay = 0;
    for (int distance = 1; distance < core.size(); distance *= 2) {
      if (distance >= perRack || perRack % (2 * distance) != 0) {
        steps++;
        delay += racks.delay(Math.min(distance, perRack), step.bytes(distance));
      }
    }
    return new Crossing(steps, delay);
  }

  /** Returns that of a binomial tree, in which messages of a size leave the root's rack. */
  static Crossing ofTree(RackShape racks, Cost cost, long bytes) {
    int count = 0;
    for (int rank = 0; rank < racks.perRack(); rank++) {
      int lowestBit = rank == 0 ? racks.ranks() : Integer.lowestOneBit(rank);
      for (int bit = 1; bit < lowestBit && rank + bit < racks.ranks(); bit *= 2) {
        count += rank + bit >= racks.perRack() ? 1 : 0;
      }
    }
    return new Crossing(cost.steps(), racks.delay(1, count * bytes));
  }

  /** Returns the same with a step of so many bytes before it, and one of its kind after it. */
  Crossing folded(RackShape racks, PowerOfTwo core, long bytes) {
    int folding = Math.min(racks.perRack(), racks.ranks() - core.size());
    return core.isAll() ? this : new Crossing(steps + 2, delay + 2 * racks.delay(folding, bytes));
  }
}
