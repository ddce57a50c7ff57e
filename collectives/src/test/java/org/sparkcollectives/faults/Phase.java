package org.sparkcollectives.faults;

import java.time.Duration;

/** What the ranks are doing when something goes wrong with one of them. */
enum Phase {
  /** They look for each other in the store. */
  RENDEZVOUS("rendezvous", 10),
  /** They have a group, and are in its first operation. */
  FIRST_CONNECT("first connect", 15),
  /** They reduce 64 numbers, again and again. */
  SMALL_ALL_REDUCE("small all-reduce", 50),
  /** They reduce 4 MB, again and again. */
  LARGE_ALL_REDUCE("large all-reduce", 50),
  /** They meet, again and again. */
  BARRIER("barrier", 50),
  /** They keep their state, again and again. */
  CHECKPOINT("checkpoint", 50),
  /** They close the group with an operation that is still under way. */
  CLOSE("close", 10);

  private final String label;
  private final Duration window;

  Phase(String label, int windowMillis) {
    this.label = label;
    this.window = Duration.ofMillis(windowMillis);
  }

  /** As tables have it. */
  String label() {
    return label;
  }

  /** Within which time from its beginning the fault comes. */
  Duration window() {
    return window;
  }

  /** Whether it goes on until something fails. */
  boolean isEndless() {
    return this != CLOSE;
  }

  /** Whether the ranks have worked together before it begins. */
  boolean isWarm() {
    return this != RENDEZVOUS && this != FIRST_CONNECT;
  }
}
