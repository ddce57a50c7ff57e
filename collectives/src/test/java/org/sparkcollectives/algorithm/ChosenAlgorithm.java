package org.sparkcollectives.algorithm;

import java.util.Collections;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Locality;
import org.sparkcollectives.transport.Pair;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.SharedRegion;

/** Which algorithm {@link AlgorithmSelector} chooses, found by letting it begin. */
final class ChosenAlgorithm {

  /** An operation of a rank, given to the selector. */
  @FunctionalInterface
  interface Operation {
    void begin(Peers peers);
  }

  private static final List<Class<?>> SELECTORS =
      List.of(AlgorithmSelector.class, MessageAlgorithms.class, HierarchicalAlgorithms.class);

  /** How the names of algorithms end. */
  private static final List<String> OPERATIONS =
      List.of("AllReduce", "Reduce", "Scatter", "Gather", "AllToAll", "Broadcast", "Barrier");

  private ChosenAlgorithm() {}

  /** The name of the class that first asks for a path to a peer in a group of so many ranks. */
  static String of(int ranks, Operation operation) {
    return of(new Asked(ranks, null), operation);
  }

  /**
   * The name of the class that first asks for a path to a peer, or shows something to its JVM.
   *
   * @param jvms in which JVM each rank is
   */
  static String of(Locality jvms, Operation operation) {
    return of(new Asked(jvms.size(), jvms), operation);
  }

  private static String of(Asked asked, Operation operation) {
    try {
      operation.begin(asked);
    } catch (Begun begun) {
      return begun.algorithm;
    }
    throw new AssertionError("nothing was to be sent among " + asked.size() + " ranks");
  }

  private static final class Begun extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final String algorithm;

    /** What is between the selector and the caller. */
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

  /** A rank; the region that it sees is never used. */
  private record Asked(int size, Locality jvms) implements Peers {

    @Override
    public int rank() {
      return 0;
    }

    @Override
    public Hierarchy hierarchy() {
      return jvms == null
          ? null
          : Hierarchy.of(
              this, jvms, new Unseen(), Locality.of(Collections.nCopies(size, "everywhere")));
    }

    @Override
    public void flush() {}

    @Override
    public Pair pair(int peer) {
      throw new Begun();
    }
  }

  private record Unseen() implements SharedRegion {

    @Override
    public int rank() {
      return 0;
    }

    @Override
    public int size() {
      throw new Begun();
    }

    @Override
    public void show(List<HostTensor> tensors) {
      throw new Begun();
    }

    @Override
    public HostTensor shownBy(int rank, int index, DType dtype, long count) {
      throw new Begun();
    }

    @Override
    public boolean mayWriteToOthers() {
      return false;
    }

    @Override
    public void publish(long amount) {}

    @Override
    public long published(int rank) {
      return 0;
    }

    @Override
    public void awaitPublished(int rank, long amount) {}

    @Override
    public void check() {}

    @Override
    public void finish() {}

    @Override
    public void leave() {}
  }
}
