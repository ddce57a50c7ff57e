package org.sparkcollectives.engine;

import org.sparkcollectives.pointtopoint.MessageMatcher;

/** The matchers of a group's ranks in this JVM; a message may be there before its receiver. */
public final class LocalMatchers {

  private final MessageMatcher[] matchers;

  LocalMatchers(int size) {
    matchers = new MessageMatcher[size];
    for (int rank = 0; rank < size; rank++) {
      matchers[rank] = new MessageMatcher(rank);
    }
  }

  /** Where messages to a rank of the group meet their receives. */
  public MessageMatcher of(int rank) {
    return matchers[rank];
  }
}
