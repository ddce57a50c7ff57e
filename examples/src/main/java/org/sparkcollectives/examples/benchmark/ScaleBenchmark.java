package org.sparkcollectives.examples.benchmark;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.spark.api.java.JavaSparkContext;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Shows how the costs of operations grow with the number of ranks, by groups of more and more ranks
 * of one world.
 */
@Command(
    name = "scale",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Shows how time, CPU time, connections and direct memory of operations grow with the number"
          + " of ranks: 2, 4, 8 and so on, up to one for each slot of the Spark application.",
      "The ranks of a group are spread over hosts, and on these over executors. The last column is"
          + " the law that fits best (flat, log, linear or quadratic) in the upper half of the"
          + " numbers of ranks, and the factor by which the cost grows when the ranks double."
    },
    showDefaultValues = true)
public final class ScaleBenchmark extends RankCommand {

  private static final Duration QUICK_TIME = Duration.ofMillis(100);
  private static final Duration QUICK_WARMUP = Duration.ofMillis(300);

  @Option(
      names = "--counts",
      split = ",",
      description =
          "The numbers of ranks in ascending order; by default the powers of two, and all ranks.")
  private List<Integer> counts = new ArrayList<>();

  @Option(names = "--time", description = "How long each operation is measured, such as 500ms.")
  private Duration time = Duration.ofMillis(500);

  @Option(
      names = "--warmup",
      description = "How long each operation runs before, for the code to be compiled.")
  private Duration warmup = Duration.ofSeconds(2);

  @Option(
      names = "--quick",
      description = "A rough picture within a minute or two: --time 100ms --warmup 300ms.")
  private boolean quick;

  @Option(names = "--csv", paramLabel = "FILE", description = "Where the numbers are written.")
  private Path csv = Path.of("scale.csv");

  @Option(names = "--plot", paramLabel = "FILE.png", description = "Where they are drawn.")
  private Path plot = Path.of("scale.png");

  /** Creates the command; picocli calls this. */
  public ScaleBenchmark() {}

  /** Runs the program. Fails by throwing, so that spark-submit ends with an error. */
  public static void main(String[] args) {
    execute(new ScaleBenchmark(), args);
  }

  /** Returns the command line whose options {@code program} takes. */
  public static CommandLine commandLine(ScaleBenchmark program) {
    return RankCommand.commandLine(program);
  }

  @Override
  public Integer call() throws Exception {
    check(settings()::check);
    Ranks ranks = place(GrowthPlan.FEWEST_RANKS);
    GrowthTable table = new GrowthTable();
    if (ranks instanceof SparkRanks stage) {
      try (JavaSparkContext spark = stage.start()) {
        SparkRanks all = ranks() == null ? stage.withSize(SparkSlots.await(spark.sc())) : stage;
        begin(all);
        all.run(spark, program(), table::add);
      }
    } else {
      begin(ranks);
      ranks.run(program(), table::add);
    }
    if (table.isEmpty()) {
      return 0;
    }
    table.print(out());
    table.write(csv);
    table.draw("Growth with the number of ranks: " + ranks.description(), plot);
    say(
        "%n# wrong elements: %d; load average %.2f; written: %s, %s",
        table.wrongElements(), Report.load(), csv, plot);
    return table.wrongElements() == 0 ? 0 : 1;
  }

  /** Checks that the plan fits the ranks, and says what will be measured. */
  private void begin(Ranks ranks) {
    GrowthPlan plan = plan();
    check(() -> plan.check(ranks.size()));
    say(
        "# %s ranks as %s; %d processors, load average %.2f; takes %d s or more",
        plan.countsOf(ranks.size()),
        ranks.description(),
        Runtime.getRuntime().availableProcessors(),
        Report.load(),
        plan.seconds(ranks.size()));
  }

  @Override
  RankProgram<GrowthPoint> program() {
    GrowthPlan plan = plan();
    return (world, results) -> new GrowthRank(world, plan).run(results);
  }

  /** Returns what to measure. */
  private GrowthPlan plan() {
    require(!time.isNegative() && !time.isZero(), "--time must be more than 0");
    require(!warmup.isNegative(), "--warmup must not be negative");
    return quick
        ? new GrowthPlan(counts, QUICK_TIME, QUICK_WARMUP)
        : new GrowthPlan(counts, time, warmup);
  }

  private void say(String format, Object... values) {
    out().println(String.format(Locale.ROOT, format, values));
  }
}
