package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.examples.digits.TrainingProgram.Run;

/** Runs the script with DJL, with two ranks in each of two executors. */
class DigitsOnDjlIT {

  @TempDir private Path directory;

  @Test
  void ranksTrainTheModelOfOneProcessOnAllRows() throws Exception {
    assumeTrue(
        Files.isDirectory(Path.of("target/djl/jars")),
        "Skipped: PyTorch's natives are built in with the profile djl only");
    Run run =
        TrainingProgram.run(
            directory,
            List.of(
                Path.of("digits").toAbsolutePath().toString(),
                "--engine=djl",
                "--epochs=5",
                "--learning-rate=0.05"),
            Map.of());
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).contains("4,810 parameters, trained by DJL with PyTorch");
    assertThat(run.testAccuracy()).isGreaterThanOrEqualTo(0.85);
    Matcher last = Pattern.compile("epoch +5  loss ([\\d.]+)  accuracy").matcher(run.out());
    Matcher alone =
        Pattern.compile("one process on all rows: loss ([\\d.]+), .* differ by ([\\d.e-]+) at")
            .matcher(run.out());
    assertThat(last.find() && alone.find()).as(run.out()).isTrue();
    assertThat(alone.group(1)).isEqualTo(last.group(1));
    assertThat(Double.parseDouble(alone.group(2))).isLessThan(1e-4);
  }
}
