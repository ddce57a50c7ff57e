package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.Reach;

/** Finds which algorithm {@link AlgorithmSelector} chooses by letting it begin. */
final class ChosenAlgorithm {

  /** An operation of a rank, given to the selector. */
  @FunctionalInterface
  interface Operation {
    void begin(Peers peers);
  }

  private static final List<Class<?>> SELECTORS =
      List.of(AlgorithmSelector.class, AlgorithmTable.class, Call.class);

  /** How the names of algorithms end. */
  private static final List<String> OPERATIONS =
      List.of(
          "AllReduce",
          "Reduce",
          "Scatter",
          "Gather",
          "AllToAll",
          "Broadcast",
          "Barrier",
          "SlotCollectives");

  private ChosenAlgorithm() {}

  /** The name of the class that first asks for a path to a peer in a group of so many ranks. */
  static String of(int ranks, Operation operation) {
    return of(AskedPeers.overNetwork(ranks), operation);
  }

  /**
   * The name of the class that first asks for a path to a peer, or publishes something to its JVM.
   *
   * @param jvms in which JVM each rank is
   */
  static String of(Locality jvms, Operation operation) {
    return of(AskedPeers.inJvms(jvms), operation);
  }

  /** The name of the class that first uses anything of these peers. */
  static String of(AskedPeers asked, Operation operation) {
    try {
      operation.begin(asked);
    } catch (Begun begun) {
      return begun.algorithm;
    }
    throw new AssertionError("nothing was to be sent among " + asked.size() + " ranks");
  }

  /** Returns what reduces so many bytes over ranks that are on hosts of their own. */
  static AlgorithmRows.Row<Call.AllReduce> allReduce(
      PathCosts costs, int ranks, long bytes, ReduceKernel kernel) {
    Situation situation =
        Situation.ofMessages(costs, Reach.NETWORK, ranks, Shape.ofReduction(bytes, kernel));
    return new AlgorithmSelector(costs).table().allReduce.chooseMessages(situation);
  }

  /** Returns what that costs. */
  static Cost costOfAllReduce(PathCosts costs, int ranks, long bytes, ReduceKernel kernel) {
    return ((MessageAlgorithm<Call.AllReduce>) allReduce(costs, ranks, bytes, kernel).algorithm())
        .cost(ranks, Shape.ofReduction(bytes, kernel));
  }

  /** Ends an operation that has begun. */
  static final class Begun extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final String algorithm;

    /** Notes the algorithm, which is among the frames between the selector and its caller. */
    Begun() {
      List<Class<?>> callers =
          StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
              .walk(
                  frames ->
                      frames
                          .<Class<?>>map(StackWalker.StackFrame::getDeclaringClass)
                          .filter(type -> !SELECTORS.contains(type))
                          .takeWhile(type -> type != ChosenAlgorithm.class)
                          .filter(type -> isAlgorithm(type))
                          .toList());
      algorithm = callers.get(callers.size() - 1).getSimpleName();
    }

    private static boolean isAlgorithm(Class<?> type) {
      String name = type.getSimpleName();
      return OPERATIONS.stream().anyMatch(name::endsWith);
    }
  }
}
