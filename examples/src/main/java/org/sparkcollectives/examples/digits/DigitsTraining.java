package org.sparkcollectives.examples.digits;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.util.CollectionAccumulator;
import org.sparkcollectives.spark.BarrierStage;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Trains a small network on handwritten digits, or on the samples of another file, data-parallel
 * over the tasks of a barrier stage.
 */
@Command(
    name = "digits",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Trains a small network on handwritten digits, or on the samples of another file; one rank"
            + " for each task.",
    showDefaultValues = true)
public final class DigitsTraining implements Callable<Integer> {

  @Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = "--master",
      description =
          "Spark's master; by default what spark-submit says, or local-cluster[2,2,1024].")
  private String master;

  @Option(names = "--data", description = "A file of samples, for all executors to read.")
  private String data = "examples/data/digits.csv";

  @Option(
      names = "--format",
      description = "What the file is: ${COMPLETION-CANDIDATES}. AUTO looks at its first lines.")
  private LineFormat.Kind format = LineFormat.Kind.AUTO;

  @Option(
      names = "--label-column",
      description =
          "The column of a CSV file that names the class: its name, or its number from 0, or from"
              + " the end, where -1 is the last. All others must be numbers.")
  private String labelColumn = "-1";

  @Option(
      names = "--scale",
      description =
          "What the features become: ${COMPLETION-CANDIDATES}. MINMAX: from 0 to 1; STANDARD: of"
              + " mean 0 and variance 1; as the training samples have it.")
  private FeatureScaling.Kind scaling = FeatureScaling.Kind.MINMAX;

  @Option(names = "--ranks", description = "How many ranks.")
  private int ranks = 4;

  @Option(
      names = "--engine",
      description =
          "What computes the gradients and averages them: ${COMPLETION-CANDIDATES}. JAVA: this"
              + " program, with an all-reduce; REDUCER: this program, with GradientReducer; DJL: the"
              + " Deep Java Library with PyTorch, for Linux on x86-64; the script fetches it, 112"
              + " MB.")
  private TrainingEngine engine = TrainingEngine.JAVA;

  @Option(
      names = "--hook",
      description =
          "How --engine reducer sends gradients: ${COMPLETION-CANDIDATES}. INT8 and POWERSGD are"
              + " worth it only over a slow network.")
  private GradientHook hook = GradientHook.NONE;

  @Option(
      names = "--device",
      description =
          "Where the gradients of the ranks are added up: ${COMPLETION-CANDIDATES}. GPU: on a GPU"
              + " for each rank, which Spark's executors must have.")
  private TrainingDevice device = TrainingDevice.CPU;

  @Option(names = "--hidden", description = "Hidden units; 0 for softmax regression.")
  private int hidden = 64;

  @Option(names = "--epochs", description = "How often each sample is seen.")
  private int epochs = 40;

  @Option(names = "--batch", description = "Samples for a step, of all ranks together.")
  private int batch = 64;

  @Option(names = "--learning-rate", description = "The size of a step.")
  private double learningRate = 0.1;

  @Option(names = "--momentum", description = "How much of the last step goes into the next.")
  private double momentum = 0.9;

  @Option(names = "--seed", description = "Decides the first parameters and the order of samples.")
  private long seed = 17;

  @Option(
      names = "--compare",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description =
          "Time the same step through treeAggregate and broadcast, too; with another engine than"
              + " java, train in one process on all rows, too.")
  private boolean compare;

  @Option(
      names = "--plot",
      paramLabel = "FILE.png",
      description = "Draw loss and accuracy by epoch into this file.")
  private java.nio.file.Path plot;

  @Option(
      names = "--kill-executor",
      paramLabel = "EPOCH",
      defaultValue = "0",
      showDefaultValue = CommandLine.Help.Visibility.NEVER,
      description =
          "Kill the executor of the last rank at the end of this epoch (kill -9). Spark then runs"
              + " all ranks again, and they go on with the epoch before.")
  private int killedEpoch;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Creates the command; picocli calls this. */
  public DigitsTraining() {}

  /** Runs the program. Fails by throwing, so that spark-submit ends with an error. */
  public static void main(String[] args) {
    int status = commandLine().execute(args);
    if (status != 0) {
      throw new TrainingFailed();
    }
  }

  /** Returns the command line whose options the program takes. */
  public static CommandLine commandLine() {
    return new CommandLine(new DigitsTraining()).setCaseInsensitiveEnumValuesAllowed(true);
  }

  /** Thrown without a stack trace: picocli has printed the error, and where it is. */
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
    require(batch >= ranks, "--batch must be at least one sample for each rank");
    require(learningRate > 0, "--learning-rate must be more than 0");
    require(momentum >= 0 && momentum < 1, "--momentum must be 0 or more, and less than 1");
    require(killedEpoch >= 0 && killedEpoch <= epochs, "--kill-executor must be one of the epochs");
    require(
        engine == TrainingEngine.JAVA || (killedEpoch == 0 && device == TrainingDevice.CPU),
        "--kill-executor and --device gpu need --engine java");
    require(
        engine == TrainingEngine.REDUCER || hook == GradientHook.NONE,
        "--hook needs --engine reducer");
    requirePlot();
    SparkConf conf = conf();
    require(
        device.isThere(conf),
        "--device gpu needs executors with GPUs: spark-submit --conf"
            + " spark.executor.resource.gpu.amount=N --conf"
            + " spark.executor.resource.gpu.discoveryScript=FILE; see docs/guide/gpu.md");
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

  private void requirePlot() {
    if (plot != null) {
      java.nio.file.Path folder = plot.toAbsolutePath().getParent();
      require(plot.toString().endsWith(".png"), "--plot " + plot + " must end with .png");
      require(
          Files.isWritable(folder) && !Files.isDirectory(plot),
          "--plot " + plot + " cannot be written: is " + folder + " a folder, and yours?");
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
    device.configure(conf);
    // Progress comes with the heartbeats. The training takes seconds, and the default interval is
    // ten.
    conf.setIfMissing("spark.executor.heartbeatInterval", "1s");
    return conf.setIfMissing("spark.master", "local-cluster[2,2,1024]");
  }

  /** Trains in an application that is running, and leaves nothing behind in it. */
  void run(JavaSparkContext spark) {
    require(
        killedEpoch == 0 || !spark.sc().isLocal(),
        "--kill-executor would kill the driver: with --master "
            + spark.master()
            + " there are no other processes");
    Dataset dataset = read(spark);
    NetworkShape network =
        new NetworkShape(dataset.shape().features(), hidden, dataset.shape().classes().size());
    TrainingOptions options =
        new TrainingOptions(network, epochs, batch, learningRate, momentum, seed, hook);
    List<Sample> test = dataset.test();
    JavaRDD<Sample> train = dataset.train(ranks);
    print(
        "%s on %d ranks (%s), %,d parameters%s",
        hidden == 0 ? "Softmax regression" : "One hidden layer of " + hidden,
        ranks,
        spark.master(),
        network.parameterCount(),
        engine == TrainingEngine.DJL ? ", trained by DJL with PyTorch" : "");
    print(
        "%s: %,d features, %d classes, %,d samples to test on",
        data, network.inputs(), network.classes(), test.size());

    TrainedModel model = train(spark, train, test, options);
    model.course().forEach(epoch -> out.println(ProgressDisplay.line(epoch)));
    double accuracy = new Network(network, model.parameters()).accuracy(test);
    if (model.restoredEpochs() > 0) {
      print(
          "a rank was lost; Spark ran all ranks again, and they went on after epoch %d",
          model.restoredEpochs());
    }
    print(
        "time per step %.3f ms, of which %s %.3f ms (medians of %d steps)",
        model.medianStepMillis(),
        engine == TrainingEngine.DJL ? "the optimizer with its all-reduce" : "all-reduce",
        model.medianAllReduceMillis(),
        model.steps());
    if (compare && engine != TrainingEngine.JAVA) {
      compareWithOneProcess(spark, dataset, options, model);
    } else if (compare) {
      double other = TreeAggregateStep.medianMillis(spark, train, options);
      print(
          "all-reduce step %.3f ms, treeAggregate + broadcast step %.3f ms, ratio %.1f",
          model.medianStepMillis(), other, other / model.medianStepMillis());
    }
    print("test accuracy %.4f", accuracy);
    // Last, so that nothing is lost on a machine that cannot draw, for example without fonts.
    drawCurves(model.course());
  }

  /** Trains with the same steps in one process, which has all rows. */
  private void compareWithOneProcess(
      JavaSparkContext spark, Dataset dataset, TrainingOptions options, TrainedModel model) {
    TrainedModel alone =
        train(spark, dataset.train(1), dataset.test(), options.withBatch(batch / ranks * ranks));
    Epoch last = alone.course().get(epochs - 1);
    print(
        "one process on all rows: loss %.4f, accuracy %.4f; parameters differ by %.1e at the most",
        last.loss(), last.accuracy(), alone.largestDifference(model));
  }

  private Dataset read(JavaSparkContext spark) {
    try {
      return Dataset.read(spark, new DatasetOptions(data, format, labelColumn, scaling));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--data " + data + ": " + e.getMessage(), e);
    }
  }

  private void print(String format, Object... values) {
    out.println(String.format(Locale.ROOT, format, values));
  }

  private TrainedModel train(
      JavaSparkContext spark, JavaRDD<Sample> train, List<Sample> test, TrainingOptions options) {
    Broadcast<List<Sample>> testSamples = spark.broadcast(test);
    CollectionAccumulator<double[]> progress = spark.sc().collectionAccumulator("epochs");
    try (ProgressDisplay display = new ProgressDisplay(progress.id(), epochs)) {
      TrainedModel model;
      spark.sc().addSparkListener(display);
      try {
        model =
            BarrierStage.of(train)
                .withStageRetry()
                .mapPartitions(
                    new TrainingRank(options, testSamples, progress, engine, device, killedEpoch))
                .collect()
                .get(0);
      } finally {
        spark.sc().removeSparkListener(display);
      }
      // The last heartbeat was before the last epoch.
      model.course().forEach(display::show);
      return model;
    } finally {
      testSamples.destroy();
    }
  }

  private void drawCurves(List<Epoch> course) {
    if (plot != null) {
      try {
        Curves.draw("Training on " + data, course, plot);
      } catch (IOException e) {
        throw new UncheckedIOException("--plot " + plot + " cannot be written", e);
      }
    }
  }
}
