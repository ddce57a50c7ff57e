package org.sparkcollectives.testing;

import java.util.List;
import java.util.function.IntFunction;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;

/** Runs a test's body as the ranks of a group, on threads of this JVM over a store in its heap. */
public final class GroupRuns {

  /** The code of one rank. */
  public interface Body<T> {

    /** Runs as a rank of the group; an exception fails the test. */
    T run(ProcessGroup group) throws Exception;
  }

  private GroupRuns() {}

  /** Runs {@code body} for each rank and returns the results in rank order. */
  public static <T> List<T> run(int size, GroupOptions options, Body<T> body) {
    return run(size, options, RankContext.process(), body);
  }

  /** Runs {@code body} for each rank, hosted by {@code context}. */
  public static <T> List<T> run(int size, GroupOptions options, RankContext context, Body<T> body) {
    return run(size, options, rank -> context, body);
  }

  /** Runs {@code body} for each rank, over these paths. */
  public static <T> List<T> run(int size, Paths paths, Body<T> body) {
    return run(size, paths.options(), paths::context, body);
  }

  /** Runs {@code body} for each rank, each in a host of its own. */
  public static <T> List<T> run(
      int size, GroupOptions options, IntFunction<RankContext> contexts, Body<T> body) {
    try (HashStore store = new HashStore()) {
      return run(store, size, options, contexts, body);
    }
  }

  /** Runs {@code body} for each rank, over a store that the test may look into. */
  public static <T> List<T> run(
      Store store,
      int size,
      GroupOptions options,
      IntFunction<RankContext> contexts,
      Body<T> body) {
    return RankThreads.run(
        size,
        rank -> {
          try (ProcessGroup group =
              HostedGroups.create(store, rank, size, options, contexts.apply(rank))) {
            return body.run(group);
          }
        });
  }
}
