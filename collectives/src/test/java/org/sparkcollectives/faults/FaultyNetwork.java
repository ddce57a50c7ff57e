package org.sparkcollectives.faults;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The network of a case: what ranks send to each other and to the store passes through it. Each
 * rank listens at a port of its own address and tells others another one, where the same port leads
 * through here.
 */
final class FaultyNetwork implements AutoCloseable {

  /** Ports that the operating system gives to nobody by itself. */
  private static final int FIRST_PORT = 20_000;

  private static final int PORTS = 10_000;
  private static final Random RANDOM = new Random();

  private final String host;
  private final List<Relay> toStore = new ArrayList<>();
  private final List<Relay> toRanks = new ArrayList<>();
  private volatile boolean[] cut;

  /**
   * Between ranks and a store.
   *
   * @param host the address at which ranks find the store and each other; not one of theirs
   * @param ranks the address of each
   * @param victim the rank that groups later do without
   */
  FaultyNetwork(String host, List<String> ranks, InetSocketAddress store, int victim)
      throws IOException {
    this.host = host;
    cut = new boolean[ranks.size()];
    for (int rank = 0; rank < ranks.size(); rank++) {
      InetSocketAddress any = new InetSocketAddress(host, 0);
      toStore.add(new Relay(any, store, rank, Relay.STORE, victim, () -> cut));
      int port = freePort();
      toRanks.add(
          new Relay(
              new InetSocketAddress(host, port),
              new InetSocketAddress(ranks.get(rank), port),
              Relay.STORE,
              rank,
              victim,
              () -> cut));
    }
  }

  /** One that nobody listens at on any address. */
  private static int freePort() throws IOException {
    while (true) {
      int port = FIRST_PORT + RANDOM.nextInt(PORTS);
      try (ServerSocket probe = new ServerSocket()) {
        probe.bind(new InetSocketAddress(port));
        return port;
      } catch (java.net.BindException taken) {
        // Another one, then.
      }
    }
  }

  /** Where a rank finds the store. */
  int storePort(int rank) {
    return toStore.get(rank).port();
  }

  /** The address at which others find the store and the ranks. */
  String host() {
    return host;
  }

  /** The port that a rank is to listen on, at its own address. */
  int port(int rank) {
    return toRanks.get(rank).port();
  }

  /** From now on drops what a rank sends and what is sent to it, without closing a connection. */
  void cut(int rank) {
    boolean[] now = cut.clone();
    now[rank] = true;
    cut = now;
  }

  /** Breaks a rank's connections to others; the number of those that there were. */
  int resetToRanks(int rank) {
    return toRanks.stream().mapToInt(relay -> relay.reset(rank)).sum();
  }

  /** Breaks a rank's connections to the store; the number of those that there were. */
  int resetToStore(int rank) {
    return toStore.get(rank).reset(rank);
  }

  /** Ends all connections, whether or not anything passed through them. */
  void end() throws IOException {
    for (Relay relay : toStore) {
      relay.close();
    }
    for (Relay relay : toRanks) {
      relay.close();
    }
  }

  @Override
  public void close() throws IOException {
    end();
  }
}
