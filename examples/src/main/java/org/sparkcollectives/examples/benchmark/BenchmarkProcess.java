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
   * Starts the process. Arguments: the port of the store, the number of the process, the class of
   * the command, and then the arguments of that.
   */
  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    int number = Integer.parseInt(args[1]);
    RankCommand command =
        Class.forName(args[2]).asSubclass(RankCommand.class).getDeclaredConstructor().newInstance();
    RankCommand.commandLine(command).parseArgs(Arrays.copyOfRange(args, 3, args.length));
    GroupSettings settings = command.settings();
    int threads = command.threads();
    try (Store store =
        TcpStore.connect(
            "127.0.0.1",
            port,
            Configuration.of(settings.settings()).get(StoreConfiguration.TIMEOUT))) {
      int world = command.processes() * threads;
      new LocalRanks(store, number * threads, threads, world, settings, () -> {})
          .run(command.program(), result -> {});
    }
  }
}
