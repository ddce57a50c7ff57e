package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.Peers;

/** Runs the phases of hierarchical algorithms: collectives among some of the ranks. */
abstract class Phases {

  /** Carries out a phase, by the algorithm that is chosen for its ranks. */
  public abstract <C extends Call<C>> void run(Peers peers, C phase);

  /** Returns the algorithms for a collective, by which the time of a phase is predicted. */
  abstract AlgorithmRows<?> rows(OpType type);
}
