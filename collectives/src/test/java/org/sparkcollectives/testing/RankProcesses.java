package org.sparkcollectives.testing;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Ranks as JVMs of their own. Those that are left at the end are killed. */
public final class RankProcesses implements AutoCloseable {

  /** Longer than any test should take on a slow machine. */
  private static final Duration LIMIT = Duration.ofSeconds(90);

  private final List<Process> processes = new ArrayList<>();
  private final List<Path> outputs = new ArrayList<>();

  /** Starts {@code size} JVMs with the class path of the tests; the rank is the first argument. */
  public static RankProcesses start(Class<?> main, int size, String... arguments)
      throws IOException {
    RankProcesses ranks = new RankProcesses();
    for (int rank = 0; rank < size; rank++) {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(List.of("-Xmx256m", "-cp", System.getProperty("java.class.path")));
      command.add(main.getName());
      command.add(String.valueOf(rank));
      command.addAll(List.of(arguments));
      Path output = Files.createTempFile("rank-" + rank + "-", ".log");
      output.toFile().deleteOnExit();
      ranks.outputs.add(output);
      File file = output.toFile();
      ranks.processes.add(
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(file).start());
    }
    return ranks;
  }

  /** A port that was free a moment ago. */
  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** What a rank has printed so far. */
  public String output(int rank) {
    try {
      return Files.readString(outputs.get(rank));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits until a rank has printed {@code text}. */
  public void awaitOutput(int rank, String text) {
    Eventually.holds(
        () -> output(rank).contains(text),
        () -> "rank " + rank + " did not print \"" + text + "\": " + output(rank));
  }

  /** Kills a rank so that it cannot say goodbye. */
  public void kill(int rank) {
    processes.get(rank).destroyForcibly();
  }

  /** The exit status of a rank; fails the test if it does not end. */
  public int exitStatus(int rank) throws InterruptedException {
    if (!processes.get(rank).waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("Rank " + rank + " does not end: " + output(rank));
    }
    return processes.get(rank).exitValue();
  }

  @Override
  public void close() {
    processes.forEach(Process::destroyForcibly);
  }
}
