package org.sparkcollectives.internal.engine;

import org.sparkcollectives.internal.pointtopoint.MessageMatcher;

/**
 * The matchers of a group's ranks in this JVM; a message may arrive before its receiver is there.
 */
public final class LocalMatchers {

  private final MessageMatcher[] matchers;

  LocalMatchers(int size) {
    matchers = new MessageMatcher[size];
    for (int rank = 0; rank < size; rank++) {
      matchers[rank] = new MessageMatcher(rank);
    }
  }

  /** Returns the matcher of a rank of the group, created if necessary. */
  public MessageMatcher of(int rank) {
    return matchers[rank];
  }
}
