package org.sparkcollectives.engine;

import java.util.function.IntFunction;
import org.sparkcollectives.pointtopoint.MessageMatcher;
import org.sparkcollectives.pointtopoint.MessagePath;

/** The messages of one rank: where its own arrive, and the paths to its peers. */
final class RankMessages {

  private final MessageMatcher matcher;
  private final IntFunction<MessagePath> path;
  private final MessagePath[] paths;

  /** With the path to each peer, asked for at the first message. */
  RankMessages(MessageMatcher matcher, int size, IntFunction<MessagePath> path) {
    this.matcher = matcher;
    this.path = path;
    this.paths = new MessagePath[size];
  }

  MessageMatcher matcher() {
    return matcher;
  }

  /** The path to a peer. */
  synchronized MessagePath pathTo(int peer) {
    if (paths[peer] == null) {
      paths[peer] = path.apply(peer);
    }
    return paths[peer];
  }
}
