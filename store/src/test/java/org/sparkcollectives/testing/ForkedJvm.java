package org.sparkcollectives.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs a program of the tests in a JVM of its own, with the class path of the tests. Closing kills
 * it if it still runs.
 */
public final class ForkedJvm implements AutoCloseable {

  /** Longer than any test should take on a slow machine. */
  private static final Duration LIMIT = Duration.ofSeconds(90);

  private final Process process;
  private final Path output;

  private ForkedJvm(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  /** Starts the main method of {@code main}. */
  public static ForkedJvm start(Class<?> main, String... arguments) throws IOException {
    return start(List.of("-Xmx256m"), main, arguments);
  }

  /** Starts the main method of {@code main} in a JVM with {@code options}. */
  public static ForkedJvm start(List<String> options, Class<?> main, String... arguments)
      throws IOException {
    return start(Map.of(), options, main, arguments);
  }

  /** Starts the main method of {@code main} in a JVM with more in its environment. */
  public static ForkedJvm start(
      Map<String, String> environment, List<String> options, Class<?> main, String... arguments)
      throws IOException {
    return start(List.of(), environment, options, main, arguments);
  }

  /** Starts the main method of {@code main} in a JVM that can have so many files open. */
  public static ForkedJvm startWithDescriptors(int most, Class<?> main, String... arguments)
      throws IOException {
    return startUnder(
        List.of("bash", "-c", "ulimit -n " + most + " && exec \"$@\"", "bash"), main, arguments);
  }

  /** Starts the main method of {@code main} in a JVM that {@code command} starts. */
  public static ForkedJvm startUnder(List<String> command, Class<?> main, String... arguments)
      throws IOException {
    return start(command, Map.of(), List.of("-Xmx256m"), main, arguments);
  }

  private static ForkedJvm start(
      List<String> before,
      Map<String, String> environment,
      List<String> options,
      Class<?> main,
      String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    Path output = Files.createTempFile("forked-", ".log");
    output.toFile().deleteOnExit();
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(environment);
    return new ForkedJvm(builder.start(), output);
  }

  /** Returns what the program has printed so far. */
  public String output() {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits until the program has printed {@code text}. */
  public void awaitOutput(String text) {
    awaitOutput(text, LIMIT);
  }

  /**
   * Waits until the program has printed {@code text}, for {@code limit} at the most. Fails the test
   * at once if the program has ended without printing it.
   */
  public void awaitOutput(String text, Duration limit) {
    Eventually.holds(
        () -> {
          boolean ended = !process.isAlive();
          boolean printed = output().contains(text);
          if (ended && !printed) {
            throw new AssertionError("ended without \"" + text + "\": " + output());
          }
          return printed;
        },
        limit,
        () -> "did not print \"" + text + "\": " + output());
  }

  /** Kills the JVM so that it cannot run its shutdown, and waits until it is gone. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Stops the JVM where it stands; it sends nothing. It can be resumed or killed. */
  public void stop() throws IOException, InterruptedException {
    signal("-STOP");
  }

  /** Resumes the JVM after {@link #stop}. */
  public void resume() throws IOException, InterruptedException {
    signal("-CONT");
  }

  private void signal(String name) throws IOException, InterruptedException {
    int status =
        new ProcessBuilder("kill", name, String.valueOf(process.pid()))
            .inheritIO()
            .start()
            .waitFor();
    if (status != 0) {
      throw new IOException("kill " + name + " ended with status " + status);
    }
  }

  /** Returns its exit status. Fails the test if it does not end. */
  public int exitStatus() throws InterruptedException {
    return exitStatus(LIMIT);
  }

  /** Returns its exit status. Fails the test if it does not end within {@code limit}. */
  public int exitStatus(Duration limit) throws InterruptedException {
    if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("The process does not end: " + output());
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
