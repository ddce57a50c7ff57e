package org.sparkcollectives.examples.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.Store;

/**
 * The ranks of a group that are threads of this JVM.
 *
 * @param first the first of them
 * @param world the ranks of all JVMs
 * @param joined called by each rank that has joined the group
 */
record LocalRanks(
    Store store, int first, int count, int world, GroupSettings settings, Runnable joined) {

  /**
   * Runs a program, and passes each result on if rank 0 is here. Blocks until all ranks here are
   * done.
   */
  <T> void run(RankProgram<T> program, Consumer<T> results) throws Exception {
    CompletableFuture<Void> firstFailure = new CompletableFuture<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = first; i < first + count; i++) {
      int rank = i;
      Thread thread =
          new Thread(
              () -> {
                try {
                  run(rank, program, results);
                } catch (Throwable e) {
                  firstFailure.completeExceptionally(e);
                }
              },
              "benchmark-rank-" + rank);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    firstFailure.complete(null);
    try {
      firstFailure.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  private <T> void run(int rank, RankProgram<T> program, Consumer<T> results) {
    try (ProcessGroup group =
        HostedGroups.create(store, rank, world, settings.options(), settings.context())) {
      joined.run();
      try {
        program.run(group, results);
      } catch (RuntimeException | Error e) {
        group.abort(e);
        throw e;
      }
    }
  }
}
