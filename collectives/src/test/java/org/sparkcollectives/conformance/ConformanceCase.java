package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkcollectives.DType;

/**
 * One case of an operation's tests.
 *
 * @param reduction null for operations that only move
 * @param world the number of ranks
 * @param inPlace whether what is received lies in what is sent, for operations that allow it
 */
record ConformanceCase(
    DType dtype, Reduction reduction, int world, CaseSize size, Memory memory, boolean inPlace) {

  static final List<Integer> WORLDS = List.of(1, 2, 3, 4, 7);

  /** Returns those of {@code cases} that are for a number of ranks. */
  static List<ConformanceCase> ofWorld(List<ConformanceCase> cases, int world) {
    return cases.stream().filter(each -> each.world() == world).toList();
  }

  /** Returns all that differs between cases; a sample contains any two of these together. */
  List<Object> factors() {
    List<Object> factors = new ArrayList<>(List.of(dtype, world, size, memory, inPlace));
    if (reduction != null) {
      factors.add(reduction);
    }
    return factors;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s%s, %d ranks, %s, memory %s%s",
        dtype.label(),
        reduction == null ? "" : " " + reduction,
        world,
        size.name().toLowerCase(Locale.ROOT),
        memory.name().toLowerCase(Locale.ROOT),
        inPlace ? ", in place" : "");
  }
}
