package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;

/** A way to carry out one kind of call. */
@FunctionalInterface
interface Algorithm<C> {

  /** Runs this rank's part. Blocks until that is done. */
  void run(Peers peers, C call);
}
