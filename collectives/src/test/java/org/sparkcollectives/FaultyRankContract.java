package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;
import org.sparkcollectives.testing.RankThreads;

/**
 * The contract of a group in which the code of one rank throws: that rank is the one that every
 * rank names, over each path, whichever thread the code runs on; nothing hangs, no thread dies of
 * it, and the next group works.
 */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@MethodSource("paths")
public abstract class FaultyRankContract {

  protected static final int SIZE = 4;
  protected static final int GUILTY = 1;
  protected static final int SMALL = 12;

  /** Elements of a message that is copied in several pieces. */
  protected static final int LARGE = 120_000;

  private final Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
  private Thread.UncaughtExceptionHandler before;

  @Parameter private Paths paths;

  /**
   * Returns a path of each kind: in one JVM, over sockets, in parts, in shared memory, and between
   * JVMs and nodes of several ranks. {@code -Dpaths} names others.
   */
  static List<Paths> paths() {
    return Paths.named(
        List.of(
            Paths.HEAP,
            Paths.TCP,
            Paths.STRIPED,
            Paths.SHM,
            Paths.MIXED,
            Paths.INTERLEAVED,
            Paths.NODES));
  }

  /** On an executor, this handler ends the process. */
  @BeforeEach
  void collectWhatNobodyCatches() {
    before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
  }

  @AfterEach
  void nothingWasLeftToTheJvm() {
    Thread.setDefaultUncaughtExceptionHandler(before);
    assertThat(uncaught).isEmpty();
  }

  /** The code of one rank. */
  protected interface Body {
    void run(ProcessGroup group) throws Exception;
  }

  /** Returns the exception that each rank's code throws, or null. */
  protected final List<Throwable> failures(Store store, Body body) {
    return failures(store, paths::context, body);
  }

  /** Returns the same of ranks with these hosts. */
  final List<Throwable> failures(Store store, IntFunction<RankContext> contexts, Body body) {
    return RankThreads.run(
        SIZE,
        rank -> {
          Throwable thrown = null;
          try (ProcessGroup group =
              HostedGroups.create(store, rank, SIZE, paths.options(), contexts.apply(rank))) {
            try {
              body.run(group);
            } catch (CollectiveException e) {
              thrown = e;
            }
          }
          return thrown;
        });
  }

  /** Returns the host of a rank on this path. */
  final RankContext context(int rank) {
    return paths.context(rank);
  }

  /** Requires that a new group over the store works. */
  protected final void workAgain(Store store) {
    List<Throwable> failures =
        failures(
            store,
            group -> {
              int[] sum = {1};
              group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
              assertThat(sum).containsExactly(SIZE);
            });
    assertThat(failures).containsOnlyNulls();
  }
}
