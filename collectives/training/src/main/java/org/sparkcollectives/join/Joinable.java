package org.sparkcollectives.join;

import org.sparkcollectives.ProcessGroup;

/**
 * Takes part in a {@link Join}: runs collectives in each step, as a reducer of gradients does, and
 * can run them on ranks without rows too.
 */
public interface Joinable {

  /** Returns the group whose ranks join; all joinables of one join have the same ranks. */
  ProcessGroup processGroup();

  /** Returns what this rank does for this joinable once it has run out of rows. */
  JoinHook joinHook(JoinOptions options);
}
