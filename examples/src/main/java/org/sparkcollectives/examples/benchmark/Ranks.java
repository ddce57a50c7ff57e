package org.sparkcollectives.examples.benchmark;

import java.util.function.Consumer;

/** Where the ranks of a measurement run. */
interface Ranks {

  /** What they are, in a few words. */
  String description();

  /** How many. */
  int size();

  /** Measures on all ranks, and tells each result. Blocks until all are done. */
  void run(Plan plan, Consumer<Measurement> results) throws Exception;
}
