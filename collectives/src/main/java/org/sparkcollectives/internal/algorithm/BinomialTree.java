package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A rank's place in the binomial tree of a root, as in MPICH: with ranks counted from the root, the
 * parent of a rank is the rank without its lowest bit.
 *
 * @param parent the rank above, or -1 at the root
 * @param children the ranks below, the one with the largest subtree first
 */
record BinomialTree(int parent, List<Integer> children) {

  static BinomialTree of(int rank, int size, int root) {
    int fromRoot = Math.floorMod(rank - root, size);
    int lowestBit =
        fromRoot == 0
            ? Integer.highestOneBit(Math.max(1, size - 1)) * 2
            : Integer.lowestOneBit(fromRoot);
    List<Integer> children = new ArrayList<>();
    for (int bit = 1; bit < lowestBit && fromRoot + bit < size; bit *= 2) {
      children.add(Math.floorMod(fromRoot + bit + root, size));
    }
    Collections.reverse(children);
    int parent = fromRoot == 0 ? -1 : Math.floorMod(fromRoot - lowestBit + root, size);
    return new BinomialTree(parent, List.copyOf(children));
  }
}
