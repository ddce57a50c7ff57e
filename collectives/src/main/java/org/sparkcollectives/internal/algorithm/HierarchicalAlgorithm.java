package org.sparkcollectives.internal.algorithm;

/** An algorithm that works inside the nodes of a group, and between them, in phases. */
interface HierarchicalAlgorithm<C> extends Algorithm<C> {

  /** Predicts how many seconds its phases take together. */
  double seconds(Situation situation);
}
