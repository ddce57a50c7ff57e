package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.sparkcollectives.examples.SparkDefaults;

/** The training as a process of its own, which starts further processes for its executors. */
final class TrainingProgram {

  private static final int LIMIT_SECONDS = 1200;

  private TrainingProgram() {}

  /** The exit status and the output of a run. */
  record Run(int status, String out, String err) {

    double testAccuracy() {
      Matcher line = Pattern.compile("(?m)^test accuracy (\\d\\.\\d{4})$").matcher(out);
      assertThat(line.find()).as("a line with the test accuracy in%n%s%n%s", out, err).isTrue();
      return Double.parseDouble(line.group(1));
    }
  }

  /**
   * Runs a command to its end.
   *
   * @param directory where it runs, and its output is kept
   */
  static Run run(Path directory, List<String> command, Map<String, String> environment)
      throws IOException, InterruptedException {
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    SparkDefaults.addTo(builder.environment(), directory);
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      String errors = Files.readString(err, StandardCharsets.UTF_8);
      assertThat(ended).as("ended within %d s:%n%s", LIMIT_SECONDS, errors).isTrue();
      return new Run(process.exitValue(), Files.readString(out, StandardCharsets.UTF_8), errors);
    } finally {
      try (Stream<ProcessHandle> executors = process.descendants()) {
        executors.forEach(ProcessHandle::destroyForcibly);
      }
      process.destroyForcibly();
    }
  }
}
