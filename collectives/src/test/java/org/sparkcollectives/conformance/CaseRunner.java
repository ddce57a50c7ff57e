package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.Paths;

/** Runs cases, one after the other in one group. */
final class CaseRunner {

  private static final List<Arena> ARENAS = new ArrayList<>();

  private CaseRunner() {}

  /** Runs cases of one world size as ranks on threads, each with all cases. */
  static void onThreads(Operation operation, Paths paths, int world, List<ConformanceCase> cases) {
    List<Arena> arenas = arenas(world);
    List<List<Long>> agreed =
        GroupRuns.run(
            world,
            paths.options(),
            paths::context,
            group ->
                inGroup(operation, group, cases, arenas.get(group.rank()), paths == Paths.HEAP));
    for (int i = 0; i < cases.size(); i++) {
      for (List<Long> rank : agreed) {
        assertThat(rank.get(i))
            .as("%s: all ranks must have the same bits", text(operation, cases.get(i)))
            .isEqualTo(agreed.get(0).get(i));
      }
    }
  }

  /**
   * Runs cases of this group's size as one of its ranks.
   *
   * @param oneMemory whether the ranks see each other's tensors
   * @return for each case what must be the same on all ranks
   */
  static List<Long> inGroup(
      Operation operation,
      ProcessGroup group,
      List<ConformanceCase> cases,
      Arena arena,
      boolean oneMemory) {
    List<Long> agreed = new ArrayList<>();
    for (ConformanceCase each : cases) {
      try {
        CaseRun run = new CaseRun(group, each, arena, oneMemory);
        operation.check(run);
        agreed.add(run.finish());
      } catch (Exception | AssertionError e) {
        throw new AssertionError(
            text(operation, each) + " on rank " + group.rank() + ": " + e.getMessage(), e);
      }
    }
    return agreed;
  }

  private static String text(Operation operation, ConformanceCase each) {
    return operation.getClass().getSimpleName()
        + " of "
        + each
        + " (again with -Dconformance.seed="
        + Contributions.SEED
        + ")";
  }

  private static synchronized List<Arena> arenas(int count) {
    while (ARENAS.size() < count) {
      ARENAS.add(new Arena());
    }
    return List.copyOf(ARENAS);
  }
}
