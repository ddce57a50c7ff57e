package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.DType;

/** An operation under test: with what it is tried, and what it must do. */
interface Operation {

  /** Whether it reduces, and so has reductions to be tried with. */
  boolean reduces();

  /** Whether what it receives may lie in what it sends, or the other way round. */
  default boolean worksInPlace() {
    return false;
  }

  /** Carries out a case as one of its ranks; what is wrong is an {@link AssertionError}. */
  void check(CaseRun run) throws Exception;

  /** The reductions that it is tried with; null alone if it only moves. */
  default List<Reduction> reductions() {
    return reduces() ? Arrays.asList(Reduction.values()) : Arrays.asList((Reduction) null);
  }

  /** All cases that there are. */
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

  /** A few of them, see {@link Pairwise}. */
  default List<ConformanceCase> sample() {
    return Pairwise.sample(cases(), ConformanceCase::factors);
  }
}
