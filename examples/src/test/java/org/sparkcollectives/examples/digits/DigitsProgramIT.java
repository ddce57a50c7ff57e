package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.examples.digits.TrainingProgram.Run;

/** Runs the script as a user does: a driver and executors in processes of their own. */
class DigitsProgramIT {

  @TempDir private Path directory;

  private Run digits(String... options) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(Path.of("digits").toAbsolutePath().toString()));
    command.addAll(List.of(options));
    return TrainingProgram.run(directory, command, Map.of());
  }

  @Test
  void aNetworkTrainsOnFourRanksAndIsComparedWithTreeAggregate() throws Exception {
    Run run = digits();
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.testAccuracy()).isGreaterThanOrEqualTo(0.95);
    assertThat(run.out()).startsWith("One hidden layer of 64 on 4 ranks (local-cluster[2,2,1024])");
    assertThat(run.out()).containsPattern("epoch  40  loss 0\\.\\d{4}  accuracy 0\\.9\\d{3}");
    assertThat(run.out()).containsPattern("time per step \\d+\\.\\d+ ms, of which all-reduce");
    assertThat(run.out())
        .containsPattern(
            "all-reduce step [\\d.]+ ms, treeAggregate \\+ broadcast step [\\d.]+ ms, ratio [\\d.]+");
    assertThat(run.err()).contains("40/40");
  }

  @Test
  void theReducerTrainsTheModelOfOneProcessOnThreeRanks() throws Exception {
    Run run = digits("--engine=reducer", "--hidden", "0", "--ranks", "3", "--epochs", "10");
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.testAccuracy()).isGreaterThanOrEqualTo(0.9);
    assertThat(run.out()).doesNotContain("treeAggregate");
    Matcher alone =
        Pattern.compile("one process on all rows: loss .* differ by ([\\d.e-]+) at")
            .matcher(run.out());
    assertThat(alone.find()).as(run.out()).isTrue();
    assertThat(Double.parseDouble(alone.group(1))).isLessThan(1e-9);
  }

  @Test
  void aSmallLibsvmFileIsTrainedOnAndItsCurvesAreDrawn() throws Exception {
    // Two clouds on either side of a line, with the points given sparsely.
    List<String> lines = new ArrayList<>();
    Random random = new Random(7);
    for (int i = 0; i < 300; i++) {
      double x = random.nextGaussian();
      double y = random.nextGaussian() + (i % 2 == 0 ? 4 : -4);
      lines.add((i % 2 == 0 ? "+1" : "-1") + (i % 3 == 0 ? " " : " 1:" + x + " ") + "3:" + y);
    }
    Path data = Files.write(directory.resolve("clouds.txt"), lines);
    Path plot = directory.resolve("curves.png");
    Run run =
        digits(
            "--data=" + data,
            "--format=libsvm",
            "--scale=standard",
            "--hidden=8",
            "--ranks=2",
            "--epochs=5",
            "--plot=" + plot,
            "--no-compare");
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).contains("3 features, 2 classes, 60 samples to test on");
    assertThat(run.testAccuracy()).isGreaterThanOrEqualTo(0.99);
    assertThat(ImageIO.read(plot.toFile()).getWidth()).isEqualTo(900);
  }

  @Test
  void trainingGoesOnAfterAnExecutorIsKilledAndEndsWithTheSameAccuracy() throws Exception {
    Run undisturbed = digits("--epochs=6", "--no-compare");
    assertThat(undisturbed.status()).as(undisturbed.err()).isZero();
    assertThat(undisturbed.out()).doesNotContain("a rank was lost");
    Run disturbed = digits("--epochs=6", "--no-compare", "--kill-executor=4");
    assertThat(disturbed.status()).as(disturbed.err()).isZero();
    assertThat(disturbed.out()).contains("they went on after epoch 3");
    assertThat(disturbed.testAccuracy()).isEqualTo(undisturbed.testAccuracy());
    assertThat(disturbed.err()).contains("6/6");
  }

  @Test
  void aBadOptionEndsInAnErrorWithoutAStackTrace() throws Exception {
    Run run = digits("--ranks", "0");
    assertThat(run.status()).isNotZero();
    assertThat(run.err()).contains("--ranks must be 1 or more").doesNotContain("\tat ");
  }
}
