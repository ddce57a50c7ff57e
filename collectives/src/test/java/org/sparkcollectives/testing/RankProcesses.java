package org.sparkcollectives.testing;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Runs ranks as JVMs of their own, one or several in each. What is left at the end is killed. */
public final class RankProcesses implements AutoCloseable {

  private final List<ForkedJvm> processes = new ArrayList<>();

  /** Starts {@code size} JVMs with the class path of the tests; the rank is the first argument. */
  public static RankProcesses start(Class<?> main, int size, String... arguments)
      throws IOException {
    RankProcesses ranks = new RankProcesses();
    for (int rank = 0; rank < size; rank++) {
      List<String> all = new ArrayList<>(List.of(String.valueOf(rank)));
      all.addAll(List.of(arguments));
      ranks.processes.add(ForkedJvm.start(main, all.toArray(String[]::new)));
    }
    return ranks;
  }

  /**
   * Starts JVMs with several ranks each, which meet at a URL. The arguments are the first rank, the
   * one after the last, the size of the world, and the URL.
   */
  public static RankProcesses startWithRanks(
      List<String> options, Class<?> main, int processes, int ranksOfEach) throws IOException {
    String size = String.valueOf(processes * ranksOfEach);
    String url = "tcp://127.0.0.1:" + freePort();
    RankProcesses ranks = new RankProcesses();
    for (int process = 0; process < processes; process++) {
      String first = String.valueOf(process * ranksOfEach);
      String end = String.valueOf((process + 1) * ranksOfEach);
      ranks.processes.add(ForkedJvm.start(options, main, first, end, size, url));
    }
    return ranks;
  }

  /** Returns a port that was free a moment ago. */
  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Returns what a rank has printed so far. */
  public String output(int rank) {
    return processes.get(rank).output();
  }

  /** Waits until a rank has printed {@code text}. */
  public void awaitOutput(int rank, String text) {
    processes.get(rank).awaitOutput(text);
  }

  /** Waits until a rank has printed {@code text}, for {@code limit} at the most. */
  public void awaitOutput(int rank, String text, Duration limit) {
    processes.get(rank).awaitOutput(text, limit);
  }

  /** Kills a rank, which cannot publish that it leaves. */
  public void kill(int rank) throws InterruptedException {
    processes.get(rank).kill();
  }

  /** Stops a rank with SIGSTOP. */
  public void stop(int rank) throws IOException, InterruptedException {
    processes.get(rank).stop();
  }

  /** Resumes a stopped rank. */
  public void resume(int rank) throws IOException, InterruptedException {
    processes.get(rank).resume();
  }

  /** Returns the exit status of a rank; fails the test if it does not end. */
  public int exitStatus(int rank) throws InterruptedException {
    return processes.get(rank).exitStatus();
  }

  @Override
  public void close() {
    processes.forEach(ForkedJvm::close);
  }
}
