package org.sparkcollectives.examples.digits;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.sparkcollectives.spark.BarrierStage;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Trains a small network on handwritten digits, data-parallel over the tasks of a barrier stage.
 */
@Command(
    name = "digits",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Trains a small network on handwritten digits, one rank for each task.",
    showDefaultValues = true)
public final class DigitsTraining implements Callable<Integer> {

  @Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = "--master",
      description =
          "Spark's master; by default what spark-submit says, or local-cluster[2,2,1024].")
  private String master;

  @Option(names = "--data", description = "The file of images, for all executors to read.")
  private String data = "examples/data/digits.csv";

  @Option(names = "--ranks", description = "How many ranks.")
  private int ranks = 4;

  @Option(names = "--hidden", description = "Hidden units; 0 for softmax regression.")
  private int hidden = 64;

  @Option(names = "--epochs", description = "How often each image is seen.")
  private int epochs = 40;

  @Option(names = "--batch", description = "Images for a step, of all ranks together.")
  private int batch = 64;

  @Option(names = "--learning-rate", description = "The size of a step.")
  private double learningRate = 0.1;

  @Option(names = "--momentum", description = "How much of the last step goes into the next.")
  private double momentum = 0.9;

  @Option(names = "--seed", description = "Decides the first parameters and the order of images.")
  private long seed = 17;

  @Option(
      names = "--compare",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description = "Time the same step through treeAggregate and broadcast, too.")
  private boolean compare;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Called by picocli. */
  public DigitsTraining() {}

  /** The program. Fails by throwing, so that spark-submit ends with an error. */
  public static void main(String[] args) {
    int status = new CommandLine(new DigitsTraining()).execute(args);
    if (status != 0) {
      throw new TrainingFailed();
    }
  }

  /** Without a stack trace: picocli has printed what went wrong, and where. */
  private static final class TrainingFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    TrainingFailed() {
      super("The training did not end well; the reason is above", null, false, false);
    }
  }

  @Override
  public Integer call() {
    require(ranks >= 1, "--ranks must be 1 or more");
    require(hidden >= 0, "--hidden must be 0 or more");
    require(epochs >= 1, "--epochs must be 1 or more");
    require(batch >= ranks, "--batch must be at least one image for each rank");
    require(learningRate > 0, "--learning-rate must be more than 0");
    require(momentum >= 0 && momentum < 1, "--momentum must be 0 or more, and less than 1");
    SparkConf conf = conf();
    requireData(conf);
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      run(spark);
    }
    return 0;
  }

  private void require(boolean holds, String what) {
    if (!holds) {
      throw new ParameterException(spec.commandLine(), what);
    }
  }

  private void requireData(SparkConf conf) {
    Path path = new Path(data);
    FileStatus[] files;
    try {
      files = path.getFileSystem(SparkHadoopUtil.get().newConfiguration(conf)).globStatus(path);
    } catch (IOException | IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "--data " + data + " cannot be read: " + e.getMessage(), e);
    }
    require(
        files != null && files.length > 0,
        "--data " + data + " does not exist; it is relative to " + System.getProperty("user.dir"));
  }

  private SparkConf conf() {
    SparkConf conf = new SparkConf().setAppName("digits");
    if (master != null) {
      conf.setMaster(master);
    }
    return conf.setIfMissing("spark.master", "local-cluster[2,2,1024]");
  }

  /** Trains in an application that runs already, and leaves nothing behind in it. */
  void run(JavaSparkContext spark) {
    TrainingOptions options =
        new TrainingOptions(hidden, epochs, batch, learningRate, momentum, seed);
    DigitsData digits = DigitsData.read(spark, data);
    List<Digit> test = digits.test();
    JavaRDD<Digit> train = digits.train(ranks);
    print(
        "%s on %d ranks (%s), %,d parameters",
        hidden == 0 ? "Softmax regression" : "One hidden layer of " + hidden,
        ranks,
        spark.master(),
        Network.parameterCount(hidden));

    TrainedModel model = train(spark, train, test, options);
    double accuracy = new Network(hidden, model.parameters()).accuracy(test);
    print(
        "time per step %.3f ms, of which all-reduce %.3f ms (medians of %d steps)",
        model.medianStepMillis(), model.medianAllReduceMillis(), model.steps());
    if (compare) {
      double other = TreeAggregateStep.medianMillis(spark, train, options);
      print(
          "all-reduce step %.3f ms, treeAggregate + broadcast step %.3f ms, ratio %.1f",
          model.medianStepMillis(), other, other / model.medianStepMillis());
    }
    print("test accuracy %.4f", accuracy);
  }

  private void print(String format, Object... values) {
    out.println(String.format(Locale.ROOT, format, values));
  }

  private TrainedModel train(
      JavaSparkContext spark, JavaRDD<Digit> train, List<Digit> test, TrainingOptions options) {
    Broadcast<List<Digit>> testImages = spark.broadcast(test);
    try (ProgressFeed.Server progress = ProgressFeed.serve(spark.getConf())) {
      CompletableFuture<Void> shown = new ProgressDisplay(progress, epochs, out).start();
      TrainedModel model =
          BarrierStage.of(train)
              .mapPartitions(new TrainingRank(options, testImages, progress.feed()))
              .collect()
              .get(0);
      shown.join();
      return model;
    } finally {
      testImages.destroy();
    }
  }
}
