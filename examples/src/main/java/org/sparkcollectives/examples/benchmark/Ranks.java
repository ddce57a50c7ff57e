package org.sparkcollectives.examples.benchmark;

import java.util.function.Consumer;

/** The place where the ranks of a measurement run. */
interface Ranks {

  /** Returns a short description. */
  String description();

  /** Returns how many ranks there are. */
  int size();

  /** Runs a program on all ranks, and passes each result on. Blocks until all are done. */
  <T> void run(RankProgram<T> program, Consumer<T> results) throws Exception;
}
