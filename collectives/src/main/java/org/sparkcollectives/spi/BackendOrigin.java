package org.sparkcollectives.spi;

import java.util.List;

/**
 * The group that a group was made from, for backends that can reuse something of it.
 *
 * @param backend the one of the same name in the other group
 * @param color tells the groups apart that all ranks of the other make at once, this one among
 *     them: those that are in none call {@link Backend#takePartInSplit}; -1 if the members alone
 *     call
 * @param excluded the ranks of the other that a shrink leaves out; else empty
 */
public record BackendOrigin(Backend backend, int color, List<Integer> excluded) {

  public BackendOrigin {
    excluded = List.copyOf(excluded);
  }
}
