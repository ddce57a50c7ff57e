package org.sparkcollectives.examples.benchmark;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.config.ByteString;
import org.sparkcollectives.config.TimeString;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Measures one operation over a range of sizes, in the manner of nccl-tests: in a Spark job, in JVM
 * processes, or in this JVM.
 */
@Command(
    name = "benchmark",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures an operation of a process group over a range of sizes.",
    showDefaultValues = true)
public final class CollectivesBenchmark implements Callable<Integer> {

  private static final int DEFAULT_RANKS = 4;

  @Spec private CommandLine.Model.CommandSpec spec;

  @Option(names = "--ranks", description = "That many tasks of a Spark stage. The default, with 4.")
  private Integer ranks;

  @Option(names = "--processes", description = "That many JVMs of this host, without Spark.")
  private Integer processes;

  @Option(
      names = "--threads",
      description =
          "That many threads of this JVM, without Spark; with --processes, of each of them.")
  private Integer threads;

  @Option(
      names = "--master",
      description =
          "Spark's master; by default what spark-submit says, or local-cluster[2,2,1024].")
  private String master;

  @Option(
      names = "--operation",
      description =
          "One of all-reduce, reduce, broadcast, all-gather, reduce-scatter, all-to-all, gather,"
              + " scatter, send-recv (each rank to the next), barrier.")
  private Operation operation = Operation.ALL_REDUCE;

  @Option(names = "--min-bytes", description = "The first size, such as 4 or 64k.")
  private Size minBytes = new Size(4);

  @Option(names = "--max-bytes", description = "The last size at the most, such as 64m.")
  private Size maxBytes = new Size(16 << 20);

  @Option(names = "--factor", description = "From one size to the next.")
  private double factor = 4;

  @Option(names = "--dtype", description = "The type of the elements: ${COMPLETION-CANDIDATES}.")
  private DType dtype = DType.FLOAT32;

  @Option(names = "--op", description = "How elements are reduced: ${COMPLETION-CANDIDATES}.")
  private ReduceOp.Kind reduction = ReduceOp.Kind.SUM;

  @Option(names = "--root", description = "The rank from which, or to which.")
  private int root;

  @Option(names = "--memory", description = "Where the tensors lie: ${COMPLETION-CANDIDATES}.")
  private MemoryKind memory = MemoryKind.HEAP;

  @Option(
      names = "--transports",
      split = ",",
      description = "The paths that may be used, such as" + " tcp; by default as configured.")
  private List<String> transports = new ArrayList<>();

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "A setting; may be repeated.")
  private Map<String, String> settings = new TreeMap<>();

  @Option(names = "--time", description = "How long each size is measured, such as 500ms.")
  private Duration time = Duration.ofMillis(500);

  @Option(
      names = "--pause",
      description =
          "How long every rank does nothing between two calls, such as 5ms. With it, or --skew,"
              + " times are from the call of the last rank to the return of the others; all ranks"
              + " are then on one host.")
  private Duration pause = Duration.ZERO;

  @Option(
      names = "--skew",
      description = "By how much later than the others the last rank calls, such as 1ms.")
  private Duration skew = Duration.ZERO;

  @Option(
      names = "--persistent",
      description =
          "Prepare the operation once for each size, and start that again and again: all-reduce,"
              + " broadcast, all-gather, reduce-scatter or gather.")
  private boolean persistent;

  @Option(names = "--iterations", description = "How often each size is measured; 0: by --time.")
  private int iterations;

  @Option(
      names = "--warmup",
      description =
          "How many iterations go before; by default 20,000, or what fits into two seconds, and ten"
              + " for the first size: so long the code is still being compiled.")
  private Integer warmup;

  @Option(
      names = "--check",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description = "Count the wrong elements of a result of each size.")
  private boolean check;

  @Option(
      names = "--compare",
      description =
          "In Spark: also measure treeAggregate and broadcast, or" + " BarrierTaskContext.barrier.")
  private boolean compare;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON, too.")
  private Path json;

  @Option(names = "--plot", paramLabel = "FILE.png", description = "Draw the results, too.")
  private Path plot;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Creates the command; picocli calls this. */
  public CollectivesBenchmark() {}

  /** A number of bytes as Spark writes it. */
  private record Size(long bytes) {

    static Size parse(String text) {
      return new Size(ByteString.parse(text));
    }

    @Override
    public String toString() {
      return ByteString.format(bytes);
    }
  }

  /** Runs the program. Fails by throwing, so that spark-submit ends with an error. */
  public static void main(String[] args) {
    int status = commandLine(new CollectivesBenchmark()).execute(args);
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

  /** Returns the command line whose options {@code program} takes. */
  public static CommandLine commandLine(CollectivesBenchmark program) {
    return new CommandLine(program)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .registerConverter(Operation.class, Operation::of)
        .registerConverter(Size.class, Size::parse)
        .registerConverter(Duration.class, TimeString::parse);
  }

  @Override
  public Integer call() throws Exception {
    Ranks ranks = ranks();
    Plan plan = plan();
    try {
      settings().check();
      plan.check(ranks.size());
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    return run(ranks, plan) ? 0 : 1;
  }

  /** Measures, and returns whether no element was wrong. */
  private boolean run(Ranks ranks, Plan plan) throws Exception {
    Report report = Report.begin(ranks, plan, settings());
    ResultTable table = new ResultTable(out);
    table.begin(report);
    ranks.run(
        plan,
        measurement -> {
          report.add(measurement);
          table.row(measurement);
        });
    report.end();
    table.end(report);
    write(report);
    return report.wrongElements() == 0;
  }

  private void write(Report report) throws IOException {
    if (json != null) {
      report.write(json);
    }
    if (plot != null) {
      ResultPlot.of(report).write(plot);
    }
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

  private Ranks ranks() {
    require(
        ranks == null || (processes == null && threads == null),
        "--ranks is for Spark, --processes and --threads are for ranks without: they are mutually"
            + " exclusive");
    require(threads == null || threads >= 1, "--threads must be 1 or more");
    require(processes == null || processes >= 1, "--processes must be 1 or more");
    require(threads == null || !compare, "--compare needs Spark: leave out --threads");
    require(processes == null || !compare, "--compare needs Spark: leave out --processes");
    if (processes != null) {
      List<String> arguments = spec.commandLine().getParseResult().originalArgs();
      return new ProcessRanks(processes, threads(), settings(), arguments);
    }
    if (threads != null) {
      return new ThreadRanks(threads, settings());
    }
    int size = ranks == null ? DEFAULT_RANKS : ranks;
    require(size >= 1, "--ranks must be 1 or more");
    require(
        !compare || !plan().measuresWaits(),
        "--compare is without --pause and --skew: leave them out");
    require(
        !compare || SparkBaseline.exists(plan()),
        "--compare is for barrier, and for all-reduce with --op sum and --dtype float32");
    return new SparkRanks(size, settings(), master, compare);
  }

  /** Returns what to measure. */
  Plan plan() {
    require(minBytes.bytes() >= 1, "--min-bytes must be 1 or more");
    require(maxBytes.bytes() >= minBytes.bytes(), "--max-bytes must not be less than --min-bytes");
    require(factor > 1, "--factor must be more than 1");
    require(root >= 0, "--root must be 0 or more");
    require(iterations >= 0, "--iterations must be 0 or more");
    require(!time.isNegative() && !time.isZero(), "--time must be more than 0");
    require(!pause.isNegative(), "--pause must not be negative");
    require(!skew.isNegative(), "--skew must not be negative");
    require(warmup == null || warmup >= 0, "--warmup must be 0 or more");
    return new Plan(
        operation,
        dtype,
        reduction,
        root,
        memory,
        minBytes.bytes(),
        maxBytes.bytes(),
        factor,
        iterations,
        time,
        warmup == null ? -1 : warmup,
        check,
        pause,
        skew,
        persistent);
  }

  private void require(boolean holds, String what) {
    if (!holds) {
      throw new ParameterException(spec.commandLine(), what);
    }
  }
}
