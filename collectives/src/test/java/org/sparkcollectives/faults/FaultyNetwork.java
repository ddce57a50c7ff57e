package org.sparkcollectives.faults;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The network of a case. All that ranks send to each other and to the store passes through it. Each
 * rank listens at a port of its own address and announces another address to others, at which the
 * same port leads through here.
 */
final class FaultyNetwork implements AutoCloseable {

  /** The first port that is tried, below those that the operating system assigns. */
  private static final int FIRST_PORT = 20_000;

  private static final int PORTS = 10_000;
  private static final Random RANDOM = new Random();

  private final String host;
  private final List<Relay> toStore = new ArrayList<>();
  private final List<Relay> toRanks = new ArrayList<>();
  private volatile boolean[] cut;

  /**
   * Creates the network between ranks and a store.
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

  /** Returns a port that is free on every address. */
  private static int freePort() throws IOException {
    while (true) {
      int port = FIRST_PORT + RANDOM.nextInt(PORTS);
      try (ServerSocket probe = new ServerSocket()) {
        probe.bind(new InetSocketAddress(port));
        return port;
      } catch (java.net.BindException taken) {
        // The next port is tried.
      }
    }
  }

  /** Returns the port at which a rank finds the store. */
  int storePort(int rank) {
    return toStore.get(rank).port();
  }

  /** Returns the address at which others find the store and the ranks. */
  String host() {
    return host;
  }

  /** Returns the port that a rank must listen on, at its own address. */
  int port(int rank) {
    return toRanks.get(rank).port();
  }

  /** Begins to drop all packets that a rank sends or is sent, without closing a connection. */
  void cut(int rank) {
    boolean[] now = cut.clone();
    now[rank] = true;
    cut = now;
  }

  /** Resets a rank's connections to others; returns how many there were. */
  int resetToRanks(int rank) {
    return toRanks.stream().mapToInt(relay -> relay.reset(rank)).sum();
  }

  /** Resets a rank's connections to the store; returns how many there were. */
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
