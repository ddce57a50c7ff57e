package org.sparkcollectives.testing;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** Ranks as JVMs of their own. Those that are left at the end are killed. */
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

  /** A port that was free a moment ago. */
  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** What a rank has printed so far. */
  public String output(int rank) {
    return processes.get(rank).output();
  }

  /** Waits until a rank has printed {@code text}. */
  public void awaitOutput(int rank, String text) {
    processes.get(rank).awaitOutput(text);
  }

  /** Kills a rank so that it cannot say goodbye. */
  public void kill(int rank) throws InterruptedException {
    processes.get(rank).kill();
  }

  /** Stops a rank as it stands, without a word to the others. */
  public void stop(int rank) throws IOException, InterruptedException {
    processes.get(rank).stop();
  }

  /** Lets a stopped rank go on. */
  public void resume(int rank) throws IOException, InterruptedException {
    processes.get(rank).resume();
  }

  /** The exit status of a rank; fails the test if it does not end. */
  public int exitStatus(int rank) throws InterruptedException {
    return processes.get(rank).exitStatus();
  }

  @Override
  public void close() {
    processes.forEach(ForkedJvm::close);
  }
}
