package org.sparkcollectives.spark;

/** The activity of a barrier stage's ranks when a fault hits one of them. */
enum ClusterPhase {
  /** The ranks look for each other in the driver's store. */
  RENDEZVOUS("rendezvous"),
  /** The ranks have a group, and are in its first operation. */
  FIRST_OPERATION("the first operation"),
  /** The ranks reduce 4 MB, again and again. */
  ALL_REDUCE("an all-reduce"),
  /** The ranks meet, again and again. */
  BARRIER("a barrier"),
  /** The ranks write checkpoints, again and again. */
  CHECKPOINT("a checkpoint"),
  /** The ranks close the group with an operation in progress. */
  CLOSE("close");

  private final String label;

  ClusterPhase(String label) {
    this.label = label;
  }

  /** Returns the name in messages. */
  String label() {
    return label;
  }

  /** Returns whether the ranks have worked together before the phase begins. */
  boolean isWarm() {
    return this != RENDEZVOUS && this != FIRST_OPERATION;
  }
}
