package org.sparkcollectives;

/** The extent of a group's optional checks, as c10d's {@code TORCH_DISTRIBUTED_DEBUG}. */
public enum DebugLevel {
  /** No checks. */
  OFF,
  /** Logs when groups are made and closed. */
  INFO,
  /**
   * Lets the ranks compare their calls before each collective: operation, sequence number, types,
   * shapes, kind of device, reduction, root and splits. All ranks of a group must have the same
   * level. Costs a small all-gather for each collective, or two where sizes differ by rank. On a
   * GPU the call of a collective waits for the comparison.
   */
  DETAIL
}
