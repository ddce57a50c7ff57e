package org.sparkcollectives.examples.benchmark;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import picocli.CommandLine;

/**
 * Ranks in JVMs of this host. This JVM has the first ranks and serves the store on a free port; it
 * forks the others with its own options.
 *
 * @param threads the ranks of each
 * @param command this program, which the others ask what a rank runs
 * @param arguments its arguments
 */
record ProcessRanks(
    int processes,
    int threads,
    GroupSettings settings,
    Class<? extends RankCommand> command,
    List<String> arguments)
    implements Ranks {

  /** The time that processes may take to end once their work is done. */
  private static final Duration LINGER = Duration.ofSeconds(30);

  @Override
  public String description() {
    return threads == 1 ? "JVMs of one host" : "JVMs of one host with " + threads + " ranks each";
  }

  @Override
  public int size() {
    return processes * threads;
  }

  @Override
  public <T> void run(RankProgram<T> program, Consumer<T> results) throws Exception {
    List<Process> others = new ArrayList<>();
    AtomicBoolean joined = new AtomicBoolean();
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      for (int number = 1; number < processes; number++) {
        Process process = fork(store.port(), number);
        others.add(process);
        process.onExit().thenAccept(ended -> giveUp(ended, joined, store));
      }
      new LocalRanks(store, 0, threads, size(), settings, () -> joined.set(true))
          .run(program, results);
      store.awaitClientsGone(LINGER);
      for (Process process : others) {
        process.waitFor(LINGER.toSeconds(), TimeUnit.SECONDS);
      }
    } finally {
      others.forEach(Process::destroyForcibly);
    }
  }

  /**
   * Closes the store if a process died before its ranks joined; otherwise the others would wait for
   * them.
   */
  private static void giveUp(Process ended, AtomicBoolean joined, TcpStoreServer store) {
    if (ended.exitValue() != 0 && !joined.get()) {
      store.close();
    }
  }

  private Process fork(int port, int number) throws IOException {
    List<String> words = java();
    words.add(BenchmarkProcess.class.getName());
    words.addAll(List.of(String.valueOf(port), String.valueOf(number), command.getName()));
    words.addAll(arguments);
    return new ProcessBuilder(words)
        .redirectOutput(Redirect.INHERIT)
        .redirectError(Redirect.INHERIT)
        .start();
  }

  /** Returns the command that starts a JVM with this one's options and class path. */
  static List<String> java() {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> !option.startsWith("-javaagent") && !option.startsWith("-agentlib"))
        .forEach(words::add);
    words.addAll(List.of("-cp", classPath()));
    return words;
  }

  /** Returns this JVM's class path, and the jars that spark-submit loaded besides. */
  private static String classPath() {
    Set<String> places = new LinkedHashSet<>();
    places.add(System.getProperty("java.class.path"));
    for (Class<?> each : List.of(ProcessRanks.class, ProcessGroup.class, CommandLine.class)) {
      try {
        places.add(
            Path.of(each.getProtectionDomain().getCodeSource().getLocation().toURI()).toString());
      } catch (URISyntaxException e) {
        throw new IllegalStateException("Where " + each + " was loaded from is no path", e);
      }
    }
    return String.join(File.pathSeparator, places);
  }
}
