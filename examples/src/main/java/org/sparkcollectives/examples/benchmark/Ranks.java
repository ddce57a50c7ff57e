package org.sparkcollectives.examples.benchmark;

import java.util.function.Consumer;

/** The place where the ranks of a measurement run. */
interface Ranks {

  /** Returns a short description. */
  String description();

  /** Returns how many ranks there are. */
  int size();

  /** Measures on all ranks, and passes each result on. Blocks until all are done. */
  void run(Plan plan, Consumer<Measurement> results) throws Exception;
}
