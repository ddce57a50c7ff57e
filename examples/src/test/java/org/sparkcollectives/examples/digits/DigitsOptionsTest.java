package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that wrong options are reported before Spark is started. */
class DigitsOptionsTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int execute(String... arguments) {
    return DigitsTraining.commandLine()
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(arguments);
  }

  @ParameterizedTest
  @CsvSource({
    "--ranks=0, --ranks must be 1 or more",
    "--hidden=-1, --hidden must be 0 or more",
    "--epochs=0, --epochs must be 1 or more",
    "--batch=3, --batch must be at least one sample for each rank",
    "--learning-rate=0, --learning-rate must be more than 0",
    "--learning-rate=NaN, --learning-rate must be more than 0",
    "--momentum=1, '--momentum must be 0 or more, and less than 1'",
    "--ranks=many, 'Invalid value for option ''--ranks'': ''many'''",
    "--rank=2, 'Unknown option: ''--rank=2'''",
    "--data=data/nothing.csv, --data data/nothing.csv does not exist; it is relative to /",
    "--format=xml, 'Invalid value for option ''--format'''",
    "--scale=big, 'Invalid value for option ''--scale'''",
    "--engine=mxnet, 'Invalid value for option ''--engine'''",
    "--device=tpu, 'Invalid value for option ''--device'''",
    "--device=gpu, --device gpu needs executors with GPUs: spark-submit --conf",
    "--kill-executor=-1, --kill-executor must be one of the epochs",
    "--kill-executor=41, --kill-executor must be one of the epochs",
    "--plot=curves.jpg, --plot curves.jpg must end with .png",
    "--plot=nosuchfolder/curves.png, --plot nosuchfolder/curves.png cannot be written",
    "--data=nosuch:/scheme, --data nosuch:/scheme cannot be read: ",
  })
  void aBadOptionIsRefusedWithTheReason(String argument, String message) {
    assertThat(execute(argument)).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }

  @Test
  void whatNeedsThePlainEngineIsRefusedWithAnother() {
    assertThat(execute("--engine=djl", "--kill-executor=2")).isEqualTo(2);
    assertThat(err.toString()).contains("--kill-executor and --device gpu need --engine java");
  }

  @Test
  void helpNamesTheOptionsAndTheirDefaults() {
    assertThat(execute("--help")).isZero();
    assertThat(out.toString())
        .contains("--master", "--data", "--ranks", "--engine", "--hidden", "--epochs", "--batch")
        .contains(
            "--learning-rate",
            "--momentum",
            "--seed",
            "--format",
            "--label-column",
            "--scale",
            "--plot",
            "--kill-executor",
            "--device",
            "--[no-]compare",
            "Default: 40");
  }
}
