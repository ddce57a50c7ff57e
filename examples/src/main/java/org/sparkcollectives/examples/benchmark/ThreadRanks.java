package org.sparkcollectives.examples.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;

/** Ranks as threads of this JVM. */
record ThreadRanks(int size, GroupSettings settings) implements Ranks {

  @Override
  public String description() {
    return "threads of one JVM";
  }

  @Override
  public void run(Plan plan, Consumer<Measurement> results) throws Exception {
    CompletableFuture<Void> firstFailure = new CompletableFuture<>();
    List<Thread> threads = new ArrayList<>();
    try (HashStore store = new HashStore()) {
      for (int i = 0; i < size; i++) {
        int rank = i;
        Thread thread =
            new Thread(
                () -> {
                  try {
                    run(store, rank, plan, results);
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
    }
    firstFailure.complete(null);
    try {
      firstFailure.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  private void run(Store store, int rank, Plan plan, Consumer<Measurement> results) {
    try (ProcessGroup group =
        ProcessGroups.create(store, rank, size, settings.options(), settings.context())) {
      try {
        new RankBenchmark(group, plan).run(results);
      } catch (RuntimeException | Error e) {
        group.abort(e);
        throw e;
      }
    }
  }
}
