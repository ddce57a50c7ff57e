package org.sparkcollectives.faults;

import java.time.Duration;

/** The phase that the ranks are in when something goes wrong with one of them. */
enum Phase {
  /** The ranks look for each other in the store. */
  RENDEZVOUS("rendezvous", 10),
  /** The ranks have a group, and are in its first operation. */
  FIRST_CONNECT("first connect", 15),
  /** The ranks reduce 64 numbers repeatedly. */
  SMALL_ALL_REDUCE("small all-reduce", 50),
  /** The ranks reduce 4 MB repeatedly. */
  LARGE_ALL_REDUCE("large all-reduce", 50),
  /** The ranks meet in barriers repeatedly. */
  BARRIER("barrier", 50),
  /** The ranks keep checkpoints repeatedly. */
  CHECKPOINT("checkpoint", 50),
  /** The ranks close the group with an operation that is still pending. */
  CLOSE("close", 10);

  private final String label;
  private final Duration window;

  Phase(String label, int windowMillis) {
    this.label = label;
    this.window = Duration.ofMillis(windowMillis);
  }

  /** Returns the name in tables. */
  String label() {
    return label;
  }

  /** Returns the time from the phase's beginning within which the fault comes. */
  Duration window() {
    return window;
  }

  /** Returns whether it goes on until something fails. */
  boolean isEndless() {
    return this != CLOSE;
  }

  /** Returns whether the ranks have worked together before it begins. */
  boolean isWarm() {
    return this != RENDEZVOUS && this != FIRST_CONNECT;
  }
}
