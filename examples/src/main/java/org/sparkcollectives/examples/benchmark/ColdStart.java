package org.sparkcollectives.examples.benchmark;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;

/**
 * What fresh JVMs of this host pay for class loading and compilation: forks one for each rank, lets
 * them make small all-reduces over a {@link TcpStore}, and prints the processor time that a rank
 * has used at each milestone.
 *
 * @param calls how many all-reduces of 4 B each rank makes
 * @param options options for the ranks' JVMs, besides those of this one
 */
record ColdStart(int ranks, int calls, GroupSettings settings, List<String> options) {

  /** The time that a rank may take to start and to make its calls. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** Returns after which calls a rank takes its processor time: powers of ten, and the last. */
  static List<Integer> milestones(int calls) {
    List<Integer> milestones = new ArrayList<>();
    for (int each = 1; each < calls; each *= 10) {
      milestones.add(each);
    }
    milestones.add(calls);
    return milestones;
  }

  /** Returns the key under which a rank reports. */
  static String key(int rank) {
    return "cold/" + rank;
  }

  /** Measures, and prints the means over the ranks. Blocks until all have ended. */
  void run(PrintStream out) throws IOException, InterruptedException {
    List<Process> processes = new ArrayList<>();
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      for (int rank = 0; rank < ranks; rank++) {
        Process process = fork(store.port(), rank);
        processes.add(process);
        process.onExit().thenAccept(ended -> endOthers(ended, store));
      }
      for (Process process : processes) {
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
          throw new IllegalStateException("A rank has not ended within " + PATIENCE);
        }
      }
      // The callbacks above may come later than this.
      for (Process process : processes) {
        if (process.exitValue() != 0) {
          throw new IllegalStateException(
              "The JVM of a rank ended with status " + process.exitValue() + "; see above");
        }
      }
      print(store, out);
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
  }

  /** Ends the waits of the other ranks if this one has failed. */
  private static void endOthers(Process ended, TcpStoreServer store) {
    if (ended.exitValue() != 0) {
      store.close();
    }
  }

  private void print(Store store, PrintStream out) {
    List<Integer> milestones = milestones(calls);
    double[] means = new double[3 + milestones.size() + 1 + ColdRank.TOTALS];
    for (int rank = 0; rank < ranks; rank++) {
      ByteBuffer report = ByteBuffer.wrap(store.get(key(rank)));
      for (int i = 0; i < means.length; i++) {
        means[i] += (double) report.getLong() / ranks;
      }
    }
    out.printf(Locale.ROOT, "# %-24s %12s %12s%n", "until", "CPU (ms)", "since (ms)");
    int at = 0;
    row(out, "JVM started", means, at++);
    row(out, "logging ready", means, at++);
    row(out, "group made", means, at++);
    for (int milestone : milestones) {
      row(out, "call " + milestone + " returned", means, at++);
    }
    row(out, "group closed", means, at++);
    if (means[at] >= 0) {
      out.printf(Locale.ROOT, "  %-24s %12.1f%n", "of it compilation", means[at] / 1e6);
    }
    out.printf(Locale.ROOT, "# %.0f classes loaded; means of %d ranks%n", means[at + 1], ranks);
    out.printf(Locale.ROOT, "# load average %.2f%n", Report.load());
  }

  private static void row(PrintStream out, String label, double[] nanos, int at) {
    double before = at == 0 ? 0 : nanos[at - 1];
    out.printf(
        Locale.ROOT, "  %-24s %12.1f %12.1f%n", label, nanos[at] / 1e6, (nanos[at] - before) / 1e6);
  }

  private Process fork(int port, int rank) throws IOException {
    List<String> words = ProcessRanks.java();
    words.addAll(words.size() - 2, options);
    words.add(ColdRank.class.getName());
    words.addAll(
        List.of(
            String.valueOf(port),
            String.valueOf(rank),
            String.valueOf(ranks),
            String.valueOf(calls),
            String.join(",", settings.transports())));
    settings.settings().forEach((key, value) -> words.add(key + "=" + value));
    return new ProcessBuilder(words)
        .redirectOutput(Redirect.INHERIT)
        .redirectError(Redirect.INHERIT)
        .start();
  }
}
