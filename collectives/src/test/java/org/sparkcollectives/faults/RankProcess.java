package org.sparkcollectives.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A process with a rank, which takes commands and prints what it does. */
final class RankProcess implements AutoCloseable {

  /**
   * The options for several JVMs that start and end on a few cores, and of which any may leak a
   * buffer, or be process 1 beside another process 1 with the same {@code /tmp}: their performance
   * data would be one file.
   */
  private static final List<String> OPTIONS =
      List.of(
          "-Xmx256m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-XX:-UsePerfData",
          "-Dio.netty.leakDetection.level=paranoid",
          "-Dfaults.slowness=" + FaultSettings.SLOWNESS);

  /** The time in which the stacks of all threads are printed. */
  private static final Duration STACKS = Duration.ofSeconds(3);

  private final Process process;
  private final Path log;
  private final PrintStream commands;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final List<String> recent = new ArrayList<>();
  private boolean killed;

  /**
   * Creates a process with {@link FaultyRank}, which is ready when {@link #await} {@code "started"}
   * returns.
   *
   * @param folder where it is to make shared memory
   * @param on what is written before the command for it to run on a certain host; normally nothing
   */
  RankProcess(Path folder, List<String> on) throws IOException {
    this(on, FaultyRank.class, folder.toString());
  }

  /** Creates a process with the main method of {@code main}. */
  RankProcess(List<String> on, Class<?> main, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(on);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(OPTIONS);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    log = Files.createTempFile("faulty-rank-", ".log");
    process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    commands = new PrintStream(process.getOutputStream(), true, UTF_8);
    BufferedReader reader =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    Thread thread = new Thread(() -> reader.lines().forEach(lines::add), "lines-of-rank");
    thread.setDaemon(true);
    thread.start();
  }

  /** Sends it a command. */
  void send(String command) {
    commands.println(command);
  }

  /**
   * Waits until it prints a word, and skips what it prints before.
   *
   * @return what comes with the word
   * @throws AssertionError with its threads' stacks if it does not say so before it hangs
   */
  String await(String word) throws IOException, InterruptedException {
    long end = System.nanoTime() + FaultSettings.HANG.toNanos();
    while (true) {
      String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (line == null) {
        throw new AssertionError("hangs instead of \"" + word + "\": " + stacks());
      }
      recent.add(line);
      if (line.equals(word)) {
        return "";
      }
      if (line.startsWith(word + "\t")) {
        return line.substring(word.length() + 1);
      }
      if (line.startsWith("left\t")) {
        throw new AssertionError("a rank was through before \"" + word + "\"");
      }
    }
  }

  /** Returns what it has printed so far with a word that was waited for; null for nothing. */
  String said(String word) {
    String last = null;
    for (String line : recent) {
      if (line.startsWith(word + "\t")) {
        last = line.substring(word.length() + 1);
      }
    }
    return last;
  }

  /** Returns all that it has printed, whether or not it was waited for. */
  String all() {
    lines.drainTo(recent);
    return String.join(" / ", recent);
  }

  /** Forgets what it has printed. */
  void forget() {
    recent.clear();
  }

  private String stacks() throws IOException, InterruptedException {
    signal("-QUIT");
    StringBuilder text = new StringBuilder(String.join("\n", recent));
    for (String line = "";
        line != null;
        line = lines.poll(STACKS.toMillis(), TimeUnit.MILLISECONDS)) {
      text.append('\n').append(line);
    }
    return text.append('\n').append(log()).toString();
  }

  /** Returns all that it has logged. */
  String log() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until it has ended by itself, and returns its exit status. */
  int exitStatus() throws InterruptedException {
    if (!process.waitFor(FaultSettings.HANG.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("does not end: " + String.join("\n", recent) + "\n" + log());
    }
    return process.exitValue();
  }

  /** Returns whether it was not killed, and has not ended. */
  boolean isAlive() {
    return !killed && process.isAlive();
  }

  /** Kills it, and returns at once. */
  void kill() {
    killed = true;
    process.destroyForcibly();
  }

  /** Stops it with SIGSTOP. */
  void stop() throws IOException, InterruptedException {
    signal("-STOP");
  }

  /** Resumes it with SIGCONT. */
  void resume() throws IOException, InterruptedException {
    signal("-CONT");
  }

  private void signal(String name) throws IOException, InterruptedException {
    // What puts it into a namespace may be its parent.
    long pid = process.descendants().reduce((one, last) -> last).orElse(process.toHandle()).pid();
    new ProcessBuilder("kill", name, String.valueOf(pid)).start().waitFor();
  }

  /**
   * Returns what it has logged about buffers that were not released, with their owners; normally
   * empty.
   */
  List<String> leaks() throws IOException {
    List<String> lines = Files.readAllLines(log);
    int first = 0;
    while (first < lines.size() && !lines.get(first).contains("LEAK:")) {
      first++;
    }
    return first == lines.size()
        ? List.of()
        : List.of(String.join("\n", lines.subList(first, lines.size())));
  }

  /** Ends it, whatever it does. */
  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    Files.deleteIfExists(log);
  }
}
