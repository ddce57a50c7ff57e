package org.sparkcollectives.conformance;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Rendezvous;

/**
 * A rank that runs cases of all operations, on a thread or in a process. The ranks of smaller
 * worlds are the first of its world, in groups made from it.
 */
public final class ConformanceRank {

  /** The number of ranks that the world must have: that of the largest world of a case. */
  public static final int WORLD = ConformanceCase.WORLDS.get(ConformanceCase.WORLDS.size() - 1);

  private static final List<Operation> OPERATIONS =
      List.of(
          new AllReduceConformanceTest(),
          new AllReduceCoalescedConformanceTest(),
          new AllReduceSparseConformanceTest(),
          new ReduceConformanceTest(),
          new BroadcastConformanceTest(),
          new AllGatherConformanceTest(),
          new AllGatherListConformanceTest(),
          new GatherConformanceTest(),
          new ScatterConformanceTest(),
          new ReduceScatterConformanceTest(),
          new ReduceScatterListConformanceTest(),
          new AllToAllConformanceTest(),
          new AllToAllSplitsConformanceTest(),
          new AllToAllListConformanceTest(),
          new BarrierConformanceTest(),
          new MessagesConformanceTest());

  private ConformanceRank() {}

  /** Joins the world at a URL, runs cases and prints what {@link #run} reports. */
  public static void main(String[] args) {
    int rank = Integer.parseInt(args[0]);
    boolean all = args[2].equals("all");
    try (ProcessGroup world = Rendezvous.join(args[1], rank, WORLD, GroupOptions.defaults())) {
      run(world, all, System.out::println);
    }
  }

  /**
   * Runs cases as a rank of a world.
   *
   * @param all whether all cases are carried out, or a sample
   * @param report gets a line for each operation, type and world size in which this rank is; all
   *     ranks of that size must get the same
   * @throws AssertionError naming the case that is wrong
   */
  public static void run(ProcessGroup world, boolean all, Consumer<String> report) {
    Map<Integer, ProcessGroup> groups = new LinkedHashMap<>();
    for (int size : ConformanceCase.WORLDS) {
      groups.put(size, world.newGroup(IntStream.range(0, size).toArray()));
    }
    Arena arena = new Arena();
    for (Operation operation : OPERATIONS) {
      List<ConformanceCase> cases = all ? operation.cases() : operation.sample();
      groups.forEach(
          (size, group) -> {
            if (group != null) {
              for (DType dtype : DType.values()) {
                List<ConformanceCase> mine =
                    cases.stream()
                        .filter(each -> each.world() == size && each.dtype() == dtype)
                        .toList();
                List<Long> agreed = CaseRunner.inGroup(operation, group, mine, arena, false);
                report.accept(
                    line(operation, size, dtype) + mine.size() + " cases, " + agreed.hashCode());
              }
            }
          });
    }
    // A rank that left early would fail those that still run cases.
    world.barrier().await();
  }

  /**
   * Returns the prefix of each line that the ranks of a size must have in common, in their order.
   */
  static List<String> lines(int size) {
    return OPERATIONS.stream()
        .flatMap(
            operation -> Arrays.stream(DType.values()).map(dtype -> line(operation, size, dtype)))
        .toList();
  }

  private static String line(Operation operation, int size, DType dtype) {
    return operation.getClass().getSimpleName() + ", " + dtype.label() + ", " + size + " ranks: ";
  }
}
