package org.sparkcollectives.spark;

/** What the ranks of a barrier stage are doing when something goes wrong with one of them. */
enum ClusterPhase {
  /** They look for each other in the driver's store. */
  RENDEZVOUS("rendezvous"),
  /** They have a group, and are in its first operation. */
  FIRST_OPERATION("the first operation"),
  /** They reduce 4 MB, again and again. */
  ALL_REDUCE("an all-reduce"),
  /** They meet, again and again. */
  BARRIER("a barrier"),
  /** They keep their state, again and again. */
  CHECKPOINT("a checkpoint"),
  /** They close the group with an operation that is still under way. */
  CLOSE("close");

  private final String label;

  ClusterPhase(String label) {
    this.label = label;
  }

  /** As messages have it. */
  String label() {
    return label;
  }

  /** Whether the ranks have worked together before it begins. */
  boolean isWarm() {
    return this != RENDEZVOUS && this != FIRST_OPERATION;
  }
}
