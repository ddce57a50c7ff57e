package org.sparkcollectives.examples.benchmark;

import java.util.Arrays;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConfiguration;
import org.sparkcollectives.store.TcpStore;

/** Runs one of the processes that {@link ProcessRanks} forks. */
final class BenchmarkProcess {

  private BenchmarkProcess() {}

  /**
   * Starts the process. Arguments: the port of the store, the number of the process, and then the
   * arguments of {@link CollectivesBenchmark}.
   */
  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    int number = Integer.parseInt(args[1]);
    CollectivesBenchmark program = new CollectivesBenchmark();
    CollectivesBenchmark.commandLine(program).parseArgs(Arrays.copyOfRange(args, 2, args.length));
    GroupSettings settings = program.settings();
    int threads = program.threads();
    try (Store store =
        TcpStore.connect(
            "127.0.0.1",
            port,
            Configuration.of(settings.settings()).get(StoreConfiguration.TIMEOUT))) {
      int world = program.processes() * threads;
      new LocalRanks(store, number * threads, threads, world, settings, () -> {})
          .run(program.plan(), measurement -> {});
    }
  }
}
