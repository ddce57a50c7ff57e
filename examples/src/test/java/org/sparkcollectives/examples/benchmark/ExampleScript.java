package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.sparkcollectives.examples.SparkDefaults;

/** Runs a script of this folder as a user does. */
final class ExampleScript {

  private static final int LIMIT_SECONDS = 1200;

  private ExampleScript() {}

  /**
   * Runs a script, and returns what it prints.
   *
   * @param directory where it runs
   * @param status how it must end
   */
  static String run(String script, Path directory, int status, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(Path.of(script).toAbsolutePath().toString()));
    command.addAll(List.of(options));
    Path output = directory.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    SparkDefaults.addTo(builder.environment(), directory);
    Process process = builder.start();
    try {
      boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      String printed = Files.readString(output);
      assertThat(ended).as("ended within %d s:%n%s", LIMIT_SECONDS, printed).isTrue();
      assertThat(process.exitValue()).as(printed).isEqualTo(status);
      return printed;
    } finally {
      try (Stream<ProcessHandle> executors = process.descendants()) {
        executors.forEach(ProcessHandle::destroyForcibly);
      }
      process.destroyForcibly();
    }
  }
}
