package org.sparkcollectives.join;

import org.sparkcollectives.ProcessGroup;

/** What can go on with ranks that have run out of rows, as a reducer of gradients can. */
public interface Joinable {

  /** Returns the group whose ranks join; all joinables of one join have the same ranks. */
  ProcessGroup processGroup();

  /** Returns what this rank does for this joinable once it has run out of rows. */
  JoinHook joinHook(JoinOptions options);
}
