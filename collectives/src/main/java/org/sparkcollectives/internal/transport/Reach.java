package org.sparkcollectives.internal.transport;

/** The slowest path among ranks. */
public enum Reach {
  /** All are in one JVM, and see its heap. */
  JVM,
  /** All are on one host, and share its memory. */
  HOST,
  /** Some are on other hosts, or share no memory with their neighbours. */
  NETWORK,
  /** Some are in other racks, and some of those in one rack on other hosts. */
  RACKS
}
