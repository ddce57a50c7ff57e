package org.sparkcollectives.ddp;

import java.util.BitSet;

/**
 * Which parameters get gradients, on this rank and on any: all of them, or those of each step, or
 * in a static graph those of the first step for good.
 */
final class UsedParameters {

  private final boolean eachStep;
  private final boolean still;
  private final BitSet sinceLastReduction = new BitSet();

  /** Those that this rank uses in each step; null if that is not known. */
  private BitSet here;

  /** Those that any rank uses; null if that is not known. */
  private BitSet anywhere;

  UsedParameters(ReducerOptions options, int count) {
    this.still = options.staticGraph();
    this.eachStep = options.findUnused() && !still;
    if (!still) {
      here = new BitSet(count);
      here.set(0, count);
      anywhere = here;
    }
  }

  /** Returns whether parameters may stay unmarked in the coming step. */
  boolean mayBeMissing() {
    return eachStep || here == null;
  }

  /** Returns whether the ranks must tell each other in the coming step what they have used. */
  boolean mustBeShared() {
    return eachStep || anywhere == null;
  }

  /** Returns whether this is a static graph of which the used parameters are known. */
  boolean isFixed() {
    return still && anywhere != null;
  }

  /** Returns whether this rank's graph may use a parameter, as far as that is known. */
  boolean mayBeUsed(int parameter) {
    return !isFixed() || (here == null ? anywhere : here).get(parameter);
  }

  /** Returns whether a static graph is known not to use a parameter on this rank. */
  boolean isKnownAsUnused(int parameter) {
    return still && here != null && !here.get(parameter);
  }

  /** Notes the parameters that a step on this rank has used. */
  void note(BitSet used) {
    sinceLastReduction.or(used);
  }

  /** Returns the parameters that this rank has used since the last reduction. */
  BitSet noted() {
    return (BitSet) sinceLastReduction.clone();
  }

  /**
   * Notes the end of a reduction.
   *
   * @param byAny the parameters that any rank has used; null if the ranks did not share that
   * @param own whether this rank had rows in the step
   */
  void reduced(BitSet byAny, boolean own) {
    if (byAny != null) {
      anywhere = (BitSet) byAny.clone();
    }
    if (here == null && own) {
      here = noted();
    }
    sinceLastReduction.clear();
  }

  /** Forgets what was used since the last reduction. */
  void forget() {
    sinceLastReduction.clear();
  }

  /** Returns whether any rank has used a parameter in the last reduction. */
  boolean isUsedAnywhere(int parameter) {
    return anywhere.get(parameter);
  }
}
