package org.sparkcollectives.faults;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;

/**
 * Runs cases with processes that live on from case to case, as executors do: what one leaves
 * behind, the next would find. A process that was killed is replaced by another.
 */
final class FaultRun implements AutoCloseable {

  private static final int PROCESSES = 4;

  /**
   * The time between resets. Connections that break before they carried anything are made again, so
   * they are reset again.
   */
  private static final long RESET_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final String LOOPBACK = "127.0.0.1";

  /** Another address of this host, for the proxy between the ranks. */
  private static final String BETWEEN = "127.0.1.1";

  private final Path folder;
  private final Namespaces namespaces;
  private final List<RankProcess> processes = new ArrayList<>();

  /**
   * The result of one case.
   *
   * @param outcomes of each rank; null for one that was killed
   */
  record Result(
      List<String> problems, OptionalDouble detectionMillis, List<Outcome> outcomes, String text) {}

  /**
   * Creates a run whose processes make shared memory in a folder of its own.
   *
   * @param namespaces whether each process has a network of its own; else all have this host's
   */
  FaultRun(boolean namespaces) throws IOException, InterruptedException {
    folder = Files.createTempDirectory(Path.of("/dev/shm"), "faults-");
    this.namespaces = namespaces ? new Namespaces(PROCESSES) : null;
    try {
      for (int i = 0; i < PROCESSES; i++) {
        processes.add(newProcess(i));
      }
      for (RankProcess each : processes) {
        each.await("started");
      }
    } catch (IOException | InterruptedException | AssertionError e) {
      close();
      throw e;
    }
  }

  private RankProcess newProcess(int number) throws IOException {
    return new RankProcess(folder, namespaces == null ? List.of() : namespaces.command(number));
  }

  private static int processOf(FaultCase fault, int rank) {
    return (fault.number() + rank) % PROCESSES;
  }

  private String addressOf(FaultCase fault, int rank) {
    return namespaces == null ? LOOPBACK : namespaces.address(processOf(fault, rank));
  }

  /** Returns where the store is. */
  private String outside() {
    return namespaces == null ? LOOPBACK : namespaces.outside();
  }

  /** Returns the network between the ranks of a case; null for none. */
  private FaultyNetwork networkOf(FaultCase fault, int storePort) throws IOException {
    if (!fault.fault().isOfNetwork() || isCutByNamespaces(fault)) {
      return null;
    }
    List<String> addresses = new ArrayList<>();
    for (int rank = 0; rank < fault.size(); rank++) {
      addresses.add(addressOf(fault, rank));
    }
    return new FaultyNetwork(
        namespaces == null ? BETWEEN : outside(),
        addresses,
        new InetSocketAddress(outside(), storePort),
        fault.victim());
  }

  private boolean isCutByNamespaces(FaultCase fault) {
    return namespaces != null && fault.fault() == Fault.PARTITION;
  }

  /** Runs a case. After a case with problems all processes are replaced. */
  Result run(FaultCase fault) throws IOException, InterruptedException {
    List<String> problems = new ArrayList<>();
    OptionalDouble detection = OptionalDouble.empty();
    StringBuilder text = new StringBuilder(fault.toString());
    List<RankProcess> ranks = new ArrayList<>();
    for (int rank = 0; rank < fault.size(); rank++) {
      ranks.add(processes.get(processOf(fault, rank)));
      ranks.get(rank).forget();
    }
    List<Outcome> outcomes = new ArrayList<>();
    try (TcpStoreServer store =
            TcpStore.server(outside(), 0, FaultSettings.SECRET, TransportSecurity.plain());
        FaultyNetwork network = networkOf(fault, store.port())) {
      long begun = carryOut(fault, ranks, store.port(), network, outcomes);
      detection = judge(fault, outcomes, begun, problems, text);
      awaitClosed(fault, ranks, network, problems);
      checkRemains(fault, ranks, problems);
      meetAgain(fault, ranks, store.port(), problems);
      checkFiles(problems);
    } catch (AssertionError e) {
      problems.add(e.getMessage());
      ranks.forEach(each -> problems.add(each.all()));
      if (namespaces != null) {
        namespaces.heal();
      }
    }
    replace(!problems.isEmpty());
    return new Result(problems, detection, outcomes, text.toString());
  }

  /**
   * Runs a case from the beginning of the phase until the last rank has reported how it ended;
   * returns when the victim was hit.
   */
  private long carryOut(
      FaultCase fault,
      List<RankProcess> ranks,
      int storePort,
      FaultyNetwork network,
      List<Outcome> outcomes)
      throws IOException, InterruptedException {
    for (int rank = 0; rank < ranks.size(); rank++) {
      String address = addressOf(fault, rank);
      String where =
          network == null
              ? String.join(" ", outside(), String.valueOf(storePort), address, "", "0")
              : String.join(
                  " ",
                  network.host(),
                  String.valueOf(network.storePort(rank)),
                  address,
                  network.host(),
                  String.valueOf(network.port(rank)));
      ranks
          .get(rank)
          .send("case " + fault.seed() + " " + fault.number() + " " + rank + " " + where);
    }
    for (RankProcess each : ranks) {
      each.await("ready");
    }
    for (RankProcess each : ranks) {
      each.send("go");
    }
    long start = System.nanoTime();
    long begun = 0;
    RankProcess victim = ranks.get(fault.victim());
    Thread resets = null;
    if (!fault.fault().isOwn()) {
      LockSupport.parkNanos(fault.moment().toNanos() - (System.nanoTime() - start));
      begun = Outcome.now();
      switch (fault.fault()) {
        case KILL -> victim.kill();
        case STOP -> victim.stop();
        case PARTITION -> cut(fault, network);
        default -> {
          resets = new Thread(() -> resetAgainAndAgain(fault, network), "resets");
          resets.start();
        }
      }
    }
    for (int rank = 0; rank < ranks.size(); rank++) {
      boolean isVictim = rank == fault.victim();
      outcomes.add(isVictim ? null : Outcome.decode(ranks.get(rank).await("ended")));
    }
    if (resets != null) {
      resets.interrupt();
      resets.join();
    }
    if (fault.fault() == Fault.STOP) {
      victim.resume();
    }
    if (fault.fault() != Fault.KILL) {
      outcomes.set(fault.victim(), Outcome.decode(victim.await("ended")));
    }
    return fault.fault().isOwn() ? begunBy(victim, outcomes.get(fault.victim())) : begun;
  }

  private void cut(FaultCase fault, FaultyNetwork network) throws IOException {
    if (isCutByNamespaces(fault)) {
      namespaces.cut(processOf(fault, fault.victim()));
    } else {
      network.cut(fault.victim());
    }
  }

  private static long begunBy(RankProcess victim, Outcome outcome) {
    String begun = victim.said("fault");
    if (begun == null) {
      throw new AssertionError("the victim ended before the fault: " + outcome);
    }
    return Long.parseLong(begun);
  }

  private static void resetAgainAndAgain(FaultCase fault, FaultyNetwork network) {
    while (!Thread.currentThread().isInterrupted()) {
      if (fault.phase() == Phase.RENDEZVOUS) {
        network.resetToStore(fault.victim());
      } else {
        network.resetToRanks(fault.victim());
      }
      LockSupport.parkNanos(RESET_AGAIN_NANOS);
    }
  }

  private static OptionalDouble judge(
      FaultCase fault,
      List<Outcome> outcomes,
      long begun,
      List<String> problems,
      StringBuilder text) {
    OptionalDouble last = OptionalDouble.empty();
    for (int rank = 0; rank < outcomes.size(); rank++) {
      Outcome outcome = outcomes.get(rank);
      if (outcome == null) {
        continue;
      }
      double millis = (outcome.micros() - begun) / 1e3;
      text.append(
          String.format(
              Locale.ROOT,
              "%n  rank %d after %.1f ms: %s %s %s",
              rank,
              millis,
              outcome.exception(),
              outcome.kind(),
              outcome.ranks()));
      if (rank == fault.victim()) {
        text.append(" (the victim)");
      } else {
        if (!Verdict.allows(fault, outcome)) {
          problems.add("rank " + rank + " ended with " + outcome);
        }
        if (!outcome.isWell()) {
          last = OptionalDouble.of(Math.max(last.orElse(0), millis));
        }
      }
    }
    return last;
  }

  /**
   * Waits until the ranks have closed. The victim may wait for a network that it is cut off from,
   * which is then reset for good, or healed where it is a real one.
   */
  private void awaitClosed(
      FaultCase fault, List<RankProcess> ranks, FaultyNetwork network, List<String> problems)
      throws IOException, InterruptedException {
    for (int rank = 0; rank < ranks.size(); rank++) {
      if (rank != fault.victim()) {
        String closing = ranks.get(rank).await("closed");
        if (!closing.isEmpty()) {
          problems.add("rank " + rank + " could not close: " + closing);
        }
        String shrunk = ranks.get(rank).said("shrunk");
        if (shrunk != null && !shrunk.equals(String.valueOf(fault.size() - 1))) {
          problems.add("rank " + rank + " could not go on in what is left of the group: " + shrunk);
        }
      }
    }
    if (network != null) {
      network.end();
    }
    if (isCutByNamespaces(fault)) {
      namespaces.heal();
    }
    if (fault.fault() != Fault.KILL) {
      ranks.get(fault.victim()).await("closed");
    }
  }

  private static void checkRemains(FaultCase fault, List<RankProcess> ranks, List<String> problems)
      throws IOException, InterruptedException {
    for (int rank = 0; rank < ranks.size(); rank++) {
      if (rank != fault.victim() || fault.fault() != Fault.KILL) {
        String left = ranks.get(rank).await("left");
        if (!left.isEmpty()) {
          problems.add("rank " + rank + " has left behind: " + left);
        }
        problems.addAll(ranks.get(rank).leaks());
      }
    }
  }

  /** Makes all but the victim join another group. */
  private void meetAgain(
      FaultCase fault, List<RankProcess> ranks, int storePort, List<String> problems)
      throws IOException, InterruptedException {
    List<RankProcess> others = new ArrayList<>();
    for (int rank = 0; rank < ranks.size(); rank++) {
      if (rank != fault.victim()) {
        String where = outside() + " " + storePort + " " + addressOf(fault, rank);
        ranks
            .get(rank)
            .send(
                String.format(
                    Locale.ROOT,
                    "next %d %d %s after-%d",
                    others.size(),
                    ranks.size() - 1,
                    where,
                    fault.number()));
        others.add(ranks.get(rank));
      }
    }
    String expected = others.size() * (others.size() + 1) / 2 + "\twhole";
    for (RankProcess each : others) {
      String reduced = each.await("reduced");
      if (!reduced.equals(expected)) {
        problems.add("in the group after it: " + reduced);
      }
      String left = each.await("left");
      if (!left.isEmpty()) {
        problems.add("the group after it has left behind: " + left);
      }
    }
  }

  private void checkFiles(List<String> problems) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      files.forEach(each -> problems.add("left in the folder of shared memory: " + each));
    }
  }

  private void replace(boolean all) throws IOException, InterruptedException {
    List<RankProcess> begun = new ArrayList<>();
    for (int i = 0; i < processes.size(); i++) {
      if (all || !processes.get(i).isAlive()) {
        processes.get(i).close();
        processes.set(i, newProcess(i));
        begun.add(processes.get(i));
      }
    }
    for (RankProcess each : begun) {
      each.await("started");
    }
  }

  @Override
  public void close() throws IOException {
    for (RankProcess each : processes) {
      each.close();
    }
    if (namespaces != null) {
      namespaces.close();
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path each : files.toList()) {
        Files.delete(each);
      }
    }
    Files.delete(folder);
  }
}
