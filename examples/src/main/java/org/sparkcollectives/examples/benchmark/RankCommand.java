package org.sparkcollectives.examples.benchmark;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.sparkcollectives.config.TimeString;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that measures on ranks: where these run, and with which settings. */
abstract class RankCommand implements Callable<Integer> {

  @Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = "--ranks",
      description = "That many tasks of a Spark stage. Spark is the default.")
  private Integer ranks;

  @Option(names = "--processes", description = "That many JVMs of this host, without Spark.")
  private Integer processes;

  @Option(
      names = "--threads",
      description =
          "That many threads of this JVM, without Spark; with --processes, of each of them.")
  private Integer threads;

  @Option(
      names = "--join",
      paramLabel = "URL",
      description =
          "One rank, without Spark: all are started one by one and join each other, as env:// or"
              + " tcp://host:port?rank=0&world_size=2 says. Rank 0 has the results.")
  private String join;

  @Option(names = "--master", description = "Spark's master; by default what spark-submit says.")
  private String master;

  @Option(
      names = "--transports",
      split = ",",
      description = "The paths that may be used, such as tcp; by default as configured.")
  private List<String> transports = new ArrayList<>();

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "A setting; may be repeated.")
  private Map<String, String> settings = new TreeMap<>();

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Returns what each rank runs. */
  abstract RankProgram<?> program();

  /** Returns the command line whose options a command takes. */
  static CommandLine commandLine(RankCommand command) {
    return new CommandLine(command)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .registerConverter(Operation.class, Operation::of)
        .registerConverter(Size.class, Size::parse)
        .registerConverter(Duration.class, TimeString::parse);
  }

  /** Runs a command. Fails by throwing, so that spark-submit ends with an error. */
  static void execute(RankCommand command, String[] args) {
    int status = commandLine(command).execute(args);
    if (status != 0) {
      throw new BenchmarkFailed();
    }
  }

  /** Thrown without a stack trace: the error has been printed. */
  private static final class BenchmarkFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    BenchmarkFailed() {
      super("The benchmark did not end well; the reason is above", null, false, false);
    }
  }

  /** Returns where results are printed. */
  PrintStream out() {
    return out;
  }

  /** Returns the settings of the groups. */
  GroupSettings settings() {
    return new GroupSettings(transports, settings);
  }

  /** Returns the number of processes. */
  int processes() {
    return processes;
  }

  /** Returns the number of ranks in each process. */
  int threads() {
    return threads == null ? 1 : threads;
  }

  /** Returns whether the ranks are tasks of Spark. */
  boolean usesSpark() {
    return processes == null && threads == null && join == null;
  }

  /** Refuses options that were given and are none of these. */
  void requireOnly(String reason, Set<String> names) {
    spec.commandLine().getParseResult().matchedOptions().stream()
        .map(OptionSpec::longestName)
        .filter(name -> !names.contains(name))
        .findFirst()
        .ifPresent(name -> require(false, reason + ": leave out " + name));
  }

  /** Returns whether the ranks are in JVMs that this command forks. */
  boolean forksProcesses() {
    return processes != null && join == null;
  }

  /** Returns the number of ranks that was asked for in Spark; null for none in particular. */
  Integer ranks() {
    return ranks;
  }

  /**
   * Returns where the ranks run.
   *
   * @param tasks how many there are in Spark
   * @throws ParameterException if options do not fit each other
   */
  Ranks place(int tasks) {
    require(
        ranks == null || usesSpark(),
        "--ranks is for Spark, --processes, --threads and --join are for ranks without: they are"
            + " mutually exclusive");
    require(
        join == null || (processes == null && threads == null),
        "--join is one rank: leave out --processes and --threads");
    require(threads == null || threads >= 1, "--threads must be 1 or more");
    require(processes == null || processes >= 1, "--processes must be 1 or more");
    if (join != null) {
      check(settings()::check);
      return JoinedRank.join(join, settings());
    }
    if (processes != null) {
      List<String> arguments = spec.commandLine().getParseResult().originalArgs();
      return new ProcessRanks(processes, threads(), settings(), getClass(), arguments);
    }
    if (threads != null) {
      return new ThreadRanks(threads, settings());
    }
    require(ranks == null || ranks >= 1, "--ranks must be 1 or more");
    return new SparkRanks(ranks == null ? tasks : ranks, settings(), master);
  }

  /** Refuses the command line, with this message, if {@code holds} is false. */
  void require(boolean holds, String what) {
    if (!holds) {
      throw new ParameterException(spec.commandLine(), what);
    }
  }

  /** Runs a check, whose {@link IllegalArgumentException} is an error of the command line. */
  void check(Runnable check) {
    try {
      check.run();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }
}
