package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Ranks on hosts of their own: one process on each, with a network, a boot id, a PID namespace and
 * a {@code /dev/shm} that no other has. Rank 0 serves the store.
 */
final class LinkedRanks implements AutoCloseable {

  /** The first port; no other process runs on that host. */
  private static final int FIRST_PORT = 29_500;

  private final Namespaces hosts;
  private final List<RankProcess> processes = new ArrayList<>();
  private final Namespaces.Switch links;
  private int port = FIRST_PORT;

  /** The times and the outcome that a rank printed. */
  record Ended(long cut, long joining, boolean joined, Outcome outcome, long closed) {

    /** Returns the time from the cut to the exception. */
    Duration detection() {
      return micros(outcome.micros() - cut);
    }

    /** Returns the time from the exception until everything was released. */
    Duration close() {
      return micros(closed - outcome.micros());
    }

    /** Returns the time from the call until everything was released. */
    Duration total() {
      return micros(closed - joining);
    }

    private static Duration micros(long micros) {
      return Duration.of(micros, ChronoUnit.MICROS);
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%s, ended %d ms after the cut with %s, closed in %d ms, %d ms in all: %s",
          joined ? "had the group" : "had no group",
          detection().toMillis(),
          outcome.exception(),
          close().toMillis(),
          total().toMillis(),
          outcome.message());
    }
  }

  /**
   * Starts the processes.
   *
   * @param folder for the files with the boot ids
   */
  LinkedRanks(int size, Path folder, Duration heartbeat) throws Exception {
    hosts = new Namespaces(size);
    links = hosts.openSwitch();
    try {
      for (int rank = 0; rank < size; rank++) {
        Path bootId =
            Files.writeString(folder.resolve("boot_id-" + rank), UUID.randomUUID() + "\n");
        List<String> host = new ArrayList<>(hosts.command(rank));
        host.addAll(Containers.machine(bootId));
        processes.add(
            new RankProcess(host, LinkedRank.class, String.valueOf(heartbeat.toMillis())));
      }
      awaitAll("started");
    } catch (Exception | AssertionError e) {
      close();
      throw e;
    }
  }

  /** Makes every rank join the next group, and reduce {@code rounds} times in it. */
  void join(Duration timeout, int rounds) {
    join(timeout, rounds, LinkedRank.Call.REDUCE, timeout);
  }

  /** Makes every rank join the next group, and make this call {@code rounds} times in it. */
  void join(Duration timeout, int rounds, LinkedRank.Call call, Duration ofEachCall) {
    port++;
    int size = processes.size();
    for (int rank = 0; rank < size; rank++) {
      processes.get(rank).forget();
      processes
          .get(rank)
          .send(
              String.format(
                  Locale.ROOT,
                  "join %d %d tcp://%s:%d?rank=%d&world_size=%d %s %d",
                  timeout.toMillis(),
                  rounds,
                  hosts.address(0),
                  port,
                  rank,
                  size,
                  call,
                  ofEachCall.toMillis()));
    }
  }

  /** Cuts a rank off from the others, and returns when, in microseconds since the epoch. */
  long cut(int victim) throws IOException {
    links.cut(victim);
    return Outcome.now();
  }

  /** Cuts a rank off from the others, and heals the link when all ranks have ended. */
  List<Ended> cutUntilTheyEnd(int victim) throws Exception {
    return end(cut(victim));
  }

  /** Waits until all ranks have ended after a cut, and heals the link. */
  List<Ended> end(long cut) throws Exception {
    List<String> closed = awaitAll("closed");
    List<Ended> all = new ArrayList<>();
    for (int rank = 0; rank < processes.size(); rank++) {
      RankProcess process = processes.get(rank);
      all.add(
          new Ended(
              cut,
              Long.parseLong(process.said("joining")),
              process.said("joined") != null,
              Outcome.decode(process.said("ended")),
              Long.parseLong(closed.get(rank))));
    }
    hosts.heal();
    assertThat(awaitAll("left")).containsOnly("");
    return all;
  }

  /** Returns how many nanoseconds all ranks take to make a group when nothing fails. */
  long timeToJoin() throws Exception {
    long longest = 0;
    // The first run loads the classes.
    for (int i = 0; i < 2; i++) {
      long begun = Outcome.now();
      join(Duration.ofSeconds(40), 1);
      longest = 0;
      for (String joined : awaitAll("joined")) {
        longest = Math.max(longest, Long.parseLong(joined) - begun);
      }
      assertThat(awaitAll("left")).containsOnly("");
    }
    return TimeUnit.MICROSECONDS.toNanos(longest);
  }

  /** Waits until all ranks have printed a word, and returns what came with it. */
  List<String> awaitAll(String word) throws Exception {
    List<String> said = new ArrayList<>();
    for (RankProcess each : processes) {
      said.add(each.await(word));
    }
    return said;
  }

  @Override
  public void close() throws IOException {
    for (RankProcess each : processes) {
      each.close();
    }
    links.close();
    hosts.close();
  }
}
