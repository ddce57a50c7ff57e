package org.sparkcollectives.examples.benchmark;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures one operation over a range of sizes, in the manner of nccl-tests: in a Spark job, in JVM
 * processes, or in this JVM.
 */
@Command(
    name = "benchmark",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Measures an operation of a process group over a range of sizes, by default on 4 ranks.",
    showDefaultValues = true)
public final class CollectivesBenchmark extends RankCommand {

  private static final int DEFAULT_RANKS = 4;

  /** The options that go with {@code --cold}. */
  private static final Set<String> COLD_OPTIONS =
      Set.of("--cold", "--java-option", "--processes", "--threads", "--transports", "--set");

  @Option(
      names = "--operation",
      description =
          "One of all-reduce, reproducible-sum, reduce, broadcast, all-gather, reduce-scatter, all-to-all, gather,"
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

  @Option(
      names = "--cold",
      paramLabel = "CALLS",
      description =
          "With --processes: start a fresh JVM for each rank, let it call that many all-reduces of"
              + " 4 B, and print the processor time that it has used by then, such as --cold 1000.")
  private Integer cold;

  @Option(
      names = "--java-option",
      paramLabel = "OPTION",
      description = "With --cold: an option for these JVMs; may be repeated.")
  private List<String> javaOptions = new ArrayList<>();

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON, too.")
  private Path json;

  @Option(names = "--plot", paramLabel = "FILE.png", description = "Draw the results, too.")
  private Path plot;

  /** Creates the command; picocli calls this. */
  public CollectivesBenchmark() {}

  /** Runs the program. Fails by throwing, so that spark-submit ends with an error. */
  public static void main(String[] args) {
    execute(new CollectivesBenchmark(), args);
  }

  /** Returns the command line whose options {@code program} takes. */
  public static CommandLine commandLine(CollectivesBenchmark program) {
    return RankCommand.commandLine(program);
  }

  @Override
  public Integer call() throws Exception {
    if (cold != null) {
      measureColdStart();
      return 0;
    }
    require(javaOptions.isEmpty(), "--java-option is for --cold");
    Plan plan = plan();
    requireBaseline(plan);
    Ranks ranks = place(DEFAULT_RANKS);
    check(settings()::check);
    check(() -> plan.check(ranks.size()));
    return run(ranks, plan) ? 0 : 1;
  }

  private void measureColdStart() throws Exception {
    require(cold >= 1, "--cold must be 1 or more");
    require(
        forksProcesses() && threads() == 1,
        "--cold needs --processes, and one rank in each: leave out --threads and --join");
    requireOnly("--cold measures all-reduces of 4 B", COLD_OPTIONS);
    check(settings()::check);
    // Refuses what else does not fit.
    place(DEFAULT_RANKS);
    new ColdStart(processes(), cold, settings(), javaOptions).run(out());
  }

  private void requireBaseline(Plan plan) {
    if (compare) {
      require(usesSpark(), "--compare needs Spark: leave out --threads and --processes");
      require(!plan.measuresWaits(), "--compare is without --pause and --skew: leave them out");
      require(
          SparkBaseline.exists(plan),
          "--compare is for barrier, and for all-reduce with --op sum and --dtype float32");
    }
  }

  /** Measures, and returns whether no element was wrong. */
  private boolean run(Ranks ranks, Plan plan) throws Exception {
    Report report = Report.begin(ranks, plan, settings());
    ResultTable table = new ResultTable(out());
    table.begin(report);
    measure(
        ranks,
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

  private void measure(Ranks ranks, Plan plan, Consumer<Measurement> results) throws Exception {
    if (compare && ranks instanceof SparkRanks stage) {
      try (JavaSparkContext spark = stage.start()) {
        stage.run(spark, program(), results);
        new SparkBaseline(spark, plan, ranks.size()).run(results);
      }
    } else {
      ranks.run(program(), results);
    }
  }

  private void write(Report report) throws IOException {
    if (json != null) {
      report.write(json);
    }
    if (plot != null) {
      ResultPlot.of(report).write(plot);
    }
  }

  @Override
  RankProgram<Measurement> program() {
    Plan plan = plan();
    return (world, results) -> new RankBenchmark(world, plan).run(results);
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
}
