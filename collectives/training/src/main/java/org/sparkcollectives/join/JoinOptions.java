package org.sparkcollectives.join;

/**
 * Says how ranks with uneven inputs go on. Immutable.
 *
 * @param divideByInitialSize whether a sum of gradients is divided by the number of all ranks, as
 *     c10d does by default, and not by that of the ranks which still have rows
 * @param throwOnEarlyTermination whether all ranks throw as soon as one has run out of rows
 * @param enabled whether ranks join at all; if not, every rank must have the same number of steps
 */
public record JoinOptions(
    boolean divideByInitialSize, boolean throwOnEarlyTermination, boolean enabled) {

  /** Creates the options with c10d's defaults: divide by all ranks, go on, enabled. */
  public JoinOptions() {
    this(true, false, true);
  }

  /** Returns these options with another divisor. */
  public JoinOptions withDivideByInitialSize(boolean initial) {
    return new JoinOptions(initial, throwOnEarlyTermination, enabled);
  }

  /** Returns these options with or without an end for all when one rank has no more rows. */
  public JoinOptions withThrowOnEarlyTermination(boolean thrown) {
    return new JoinOptions(divideByInitialSize, thrown, enabled);
  }

  /** Returns these options, switched on or off. */
  public JoinOptions withEnabled(boolean on) {
    return new JoinOptions(divideByInitialSize, throwOnEarlyTermination, on);
  }
}
