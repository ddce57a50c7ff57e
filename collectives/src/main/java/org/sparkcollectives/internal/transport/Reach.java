package org.sparkcollectives.internal.transport;

/** How far ranks are from each other: the slowest path among them. */
public enum Reach {
  /** All are in one JVM, and see its heap. */
  JVM,
  /** All are on one host, and share its memory. */
  HOST,
  /** Some are on other hosts, or share no memory with their neighbours. */
  NETWORK
}
