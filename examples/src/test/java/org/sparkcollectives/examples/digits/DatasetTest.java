package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class DatasetTest {

  private static JavaSparkContext spark;

  @BeforeAll
  static void startSpark() {
    spark =
        new JavaSparkContext(
            new SparkConf()
                .setAppName("dataset")
                .setMaster("local[2]")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1")
                .set("spark.ui.enabled", "false"));
  }

  @AfterAll
  static void stopSpark() {
    spark.stop();
  }

  @TempDir private Path folder;

  private static Dataset read(String path, LineFormat.Kind format, String labelColumn) {
    return Dataset.read(
        spark, new DatasetOptions(path, format, labelColumn, FeatureScaling.Kind.MINMAX));
  }

  private static Dataset data() {
    return read("data/digits.csv", LineFormat.Kind.AUTO, "-1");
  }

  private String file(String name, String... lines) throws IOException {
    return Files.write(folder.resolve(name), List.of(lines)).toString();
  }

  /** Returns all samples in the file's order, as text. */
  private static List<String> samples(Dataset dataset) {
    List<Sample> train = dataset.train(1).collect();
    List<Sample> test = dataset.test();
    return IntStream.range(0, train.size() + test.size())
        .mapToObj(i -> i % 5 == 4 ? test.get(i / 5) : train.get(i - i / 5))
        .map(sample -> Arrays.toString(sample.features()) + " " + sample.label())
        .toList();
  }

  private static List<List<Integer>> labelsOfRanks(int ranks) {
    return data().train(ranks).map(Sample::label).glom().collect();
  }

  @Test
  void everyFifthSampleIsATestSample() {
    // The digits come in order at first: 0 1 2 3 4 5 6 7 8 9 0 ...; so the test set begins with 4,
    // 9.
    List<Sample> test = data().test();
    assertThat(test).hasSize(359);
    assertThat(test.subList(0, 4)).extracting(Sample::label).containsExactly(4, 9, 4, 9);
  }

  @Test
  void theOthersAreDealtOutEvenlyToAnyNumberOfRanks() {
    for (int ranks : new int[] {1, 4, 5, 10}) {
      List<List<Integer>> labels = labelsOfRanks(ranks);
      assertThat(labels).hasSize(ranks);
      assertThat(labels)
          .allSatisfy(own -> assertThat(own).hasSizeBetween(1438 / ranks, 1438 / ranks + 1));
      assertThat(labels.stream().mapToInt(List::size).sum()).isEqualTo(1438);
    }
    assertThat(labelsOfRanks(1).get(0).subList(0, 9)).containsExactly(0, 1, 2, 3, 5, 6, 7, 8, 0);
  }

  @Test
  void theOrderIsTheSameEachTime() {
    assertThat(labelsOfRanks(3)).isEqualTo(labelsOfRanks(3));
  }

  @Test
  void theDigitsAreFound() {
    DatasetShape shape = data().shape();
    assertThat(shape.features()).isEqualTo(64);
    assertThat(shape.classes()).containsExactly("0", "1", "2", "3", "4", "5", "6", "7", "8", "9");
    for (Sample sample : data().train(2).collect()) {
      assertThat(sample.features()).hasSize(64);
      assertThat(Arrays.stream(sample.features()).allMatch(pixel -> pixel >= 0 && pixel <= 1))
          .as("%s", Arrays.toString(sample.features()))
          .isTrue();
    }
  }

  @Test
  void aLibsvmFileIsKnownByItsLinesAndFilledWithZeros() throws IOException {
    String path =
        file(
            "some.libsvm",
            "+1 1:4 3:2 # the first",
            "-1 2:0.5",
            "# nothing here",
            "",
            "+1",
            "-1 1:2 4:8",
            "+1 1:-4 2:1");
    Dataset dataset = read(path, LineFormat.Kind.AUTO, "-1");
    assertThat(dataset.shape().classes()).containsExactly("-1", "+1");
    // The last sample is a test sample: it does not enter the scaling, and may lie outside.
    assertThat(samples(dataset))
        .containsExactly(
            "[1.0, 0.0, 1.0, 0.0] 1",
            "[0.0, 1.0, 0.0, 0.0] 0",
            "[0.0, 0.0, 0.0, 0.0] 1",
            "[0.5, 0.0, 0.0, 1.0] 0",
            "[-1.0, 2.0, 0.0, 0.0] 1");
  }

  @Test
  void aCsvFileMayHaveAHeaderNamedClassesAndTheLabelAnywhere() throws IOException {
    String path =
        file(
            "flowers.csv",
            "\"width\";species;length",
            "1;\"rose\";10",
            "3;tulip;20",
            "2; lily ;20");
    for (String column : List.of("species", "1", "-2")) {
      Dataset dataset = read(path, LineFormat.Kind.CSV, column);
      assertThat(dataset.shape().classes()).containsExactly("lily", "rose", "tulip");
      assertThat(samples(dataset)).containsExactly("[0.0, 0.0] 1", "[1.0, 1.0] 2", "[0.5, 1.0] 0");
    }
  }

  @Test
  void standardFeaturesHaveMeanZeroAndVarianceOne() {
    List<Sample> train =
        Dataset.read(
                spark,
                new DatasetOptions(
                    "data/digits.csv", LineFormat.Kind.CSV, "-1", FeatureScaling.Kind.STANDARD))
            .train(2)
            .collect();
    for (int feature = 0; feature < 64; feature++) {
      int column = feature;
      double[] values = train.stream().mapToDouble(row -> row.features()[column]).toArray();
      double mean = Arrays.stream(values).average().orElseThrow();
      double variance = Arrays.stream(values).map(value -> value * value).average().orElseThrow();
      assertThat(mean).isCloseTo(0, within(1e-9));
      // Some pixels are white in all images.
      assertThat(variance)
          .satisfiesAnyOf(
              v -> assertThat(v).isCloseTo(1, within(1e-9)), v -> assertThat(v).isZero());
    }
  }

  @Test
  void unscaledFeaturesAreThoseOfTheFile() throws IOException {
    String path = file("plain.csv", "1,2,a", "3,4,b");
    Dataset dataset =
        Dataset.read(
            spark, new DatasetOptions(path, LineFormat.Kind.AUTO, "-1", FeatureScaling.Kind.NONE));
    assertThat(samples(dataset)).containsExactly("[1.0, 2.0] 0", "[3.0, 4.0] 1");
  }

  @Test
  void aFileWithoutSamplesOrWithOneClassIsRefused() throws IOException {
    assertThatThrownBy(() -> read(file("empty.csv"), LineFormat.Kind.AUTO, "-1"))
        .hasMessage("There are no lines");
    assertThatThrownBy(() -> read(file("one.csv", "1,2", "2,2"), LineFormat.Kind.AUTO, "-1"))
        .hasMessageContaining("2 to 1000 classes, but are of 1")
        .hasMessageContaining("--label-column");
    String[] measurements = IntStream.range(0, 1001).mapToObj(i -> "1," + i).toArray(String[]::new);
    assertThatThrownBy(() -> read(file("many.csv", measurements), LineFormat.Kind.AUTO, "-1"))
        .hasMessageContaining("2 to 1000 classes, but are of more");
  }

  @Test
  void aBrokenLineFailsTheReadingAndIsQuoted() throws IOException {
    String path = file("broken.csv", "1,2,0", "1,two,1", "3,4,0");
    assertThatThrownBy(() -> read(path, LineFormat.Kind.CSV, "-1"))
        .hasStackTraceContaining("A number is expected, not 'two', in: 1,two,1");
  }

  @Test
  void theProgramSaysWhichFileIsNothingToTrainOn() throws IOException {
    DigitsTraining program = new DigitsTraining();
    String path = file("one-class.csv", "1,2", "2,2");
    new CommandLine(program).parseArgs("--data", path);
    assertThatThrownBy(() -> program.run(spark))
        .isInstanceOf(CommandLine.ParameterException.class)
        .hasMessageStartingWith("--data " + path + ": The labels must be of 2");
  }
}
