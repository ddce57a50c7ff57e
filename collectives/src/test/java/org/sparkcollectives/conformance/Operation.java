package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.DType;

/** An operation under test: its cases, and the check of its results. */
interface Operation {

  /** Returns whether it reduces, and so has reductions to be tested with. */
  boolean reduces();

  /** Returns whether what it receives may lie in what it sends, or the other way round. */
  default boolean worksInPlace() {
    return false;
  }

  /** Runs a case as one of its ranks; a wrong result is an {@link AssertionError}. */
  void check(CaseRun run) throws Exception;

  /** Returns the reductions to test; only null if the operation only moves. */
  default List<Reduction> reductions() {
    return reduces() ? Arrays.asList(Reduction.values()) : Arrays.asList((Reduction) null);
  }

  /** Returns all cases. */
  default List<ConformanceCase> cases() {
    List<ConformanceCase> cases = new ArrayList<>();
    for (DType dtype : DType.values()) {
      for (Reduction reduction : reductions()) {
        if (reduction == null || reduction.supports(dtype)) {
          addCases(cases, dtype, reduction);
        }
      }
    }
    return cases;
  }

  private void addCases(List<ConformanceCase> cases, DType dtype, Reduction reduction) {
    for (int world : ConformanceCase.WORLDS) {
      for (CaseSize size : CaseSize.values()) {
        for (Memory memory : Memory.values()) {
          cases.add(new ConformanceCase(dtype, reduction, world, size, memory, false));
          if (worksInPlace()) {
            cases.add(new ConformanceCase(dtype, reduction, world, size, memory, true));
          }
        }
      }
    }
  }

  /** Returns a few of the cases, see {@link Pairwise}. */
  default List<ConformanceCase> sample() {
    return Pairwise.sample(cases(), ConformanceCase::factors);
  }
}
