package org.sparkcollectives;

/** How much a group checks beyond what it needs, as c10d's {@code TORCH_DISTRIBUTED_DEBUG}. */
public enum DebugLevel {
  /** Nothing. */
  OFF,
  /** Logs when groups are made and closed. */
  INFO,
  /**
   * Before each collective the ranks compare what they call: operation, sequence number, types,
   * shapes, kind of device, reduction, root and splits. All ranks of a group must have the same
   * level. Costs a small all-gather for each collective, two where sizes differ by rank; on a GPU
   * the call of a collective waits for it.
   */
  DETAIL
}
