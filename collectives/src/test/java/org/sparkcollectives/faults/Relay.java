package org.sparkcollectives.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/**
 * Passes connections on to an address, until they are to be dropped or reset. Each connection is of
 * two ends, which are known from its first bytes, or from the relay.
 */
final class Relay implements AutoCloseable {

  /** In place of a rank, for the store. */
  static final int STORE = -1;

  /** Where the first message of a handshake has the rank that connects, after its length. */
  private static final int RANK_OFFSET = 2 + 4 + 2 + 16;

  /** Where the group's name is, after its own length. */
  private static final int GROUP_OFFSET = RANK_OFFSET + 3 * 4 + 2;

  /** What tells the name of a group without the victim from that of the group it was made from. */
  private static final String SHRUNK = "/shrink";

  private static final int BUFFER_BYTES = 1 << 16;

  private final ServerSocket listener = new ServerSocket();
  private final InetSocketAddress target;
  private final int client;
  private final int server;
  private final int victim;
  private final Supplier<boolean[]> cut;
  private final List<Link> links = new CopyOnWriteArrayList<>();

  /**
   * In front of {@code target}.
   *
   * @param client the rank whose connections come here; {@link #STORE} if they say so themselves
   * @param server the rank that they lead to, or {@link #STORE}
   * @param victim the rank that is missing where a group has shrunk
   * @param cut for each rank, whether what it sends and receives is dropped
   */
  Relay(
      InetSocketAddress address,
      InetSocketAddress target,
      int client,
      int server,
      int victim,
      Supplier<boolean[]> cut)
      throws IOException {
    this.target = target;
    this.client = client;
    this.server = server;
    this.victim = victim;
    this.cut = cut;
    listener.bind(address);
    start(this::accept);
  }

  private static void start(Runnable body) {
    Thread thread = new Thread(body, "relay");
    thread.setDaemon(true);
    thread.start();
  }

  /** The port to connect to. */
  int port() {
    return listener.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        Link link = new Link(listener.accept());
        links.add(link);
        start(link::open);
      }
    } catch (IOException closed) {
      // The end.
    }
  }

  /** Resets all connections of a rank; the number of those that there were. */
  int reset(int rank) {
    int count = 0;
    for (Link link : links) {
      if (link.isOf(rank) && link.reset()) {
        count++;
      }
    }
    return count;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    links.forEach(Link::reset);
  }

  /** One connection. */
  private final class Link {

    private final Socket near;
    private final Socket far = new Socket();
    private volatile int from = client;
    private volatile boolean open;
    private boolean reset;
    private int ended;

    Link(Socket near) {
      this.near = near;
    }

    boolean isOf(int rank) {
      return open && (from == rank || server == rank);
    }

    private boolean isCut() {
      boolean[] ranks = cut.get();
      return (from >= 0 && ranks[from]) || (server >= 0 && ranks[server]);
    }

    void open() {
      try {
        near.setTcpNoDelay(true);
        byte[] first = new byte[0];
        if (client == STORE) {
          first = hello();
          from = rankIn(first);
        }
        open = true;
        if (isCut()) {
          // As if it had never been connected: until it is reset.
          return;
        }
        far.connect(target);
        far.setTcpNoDelay(true);
        far.getOutputStream().write(first);
        start(() -> pass(far, near));
        pass(near, far);
      } catch (IOException refused) {
        reset();
      }
    }

    private byte[] hello() throws IOException {
      InputStream in = near.getInputStream();
      byte[] fixed = in.readNBytes(GROUP_OFFSET);
      if (fixed.length < GROUP_OFFSET) {
        throw new EOFException("no handshake");
      }
      int groupBytes = ByteBuffer.wrap(fixed).getShort(GROUP_OFFSET - Short.BYTES);
      byte[] all = Arrays.copyOf(fixed, GROUP_OFFSET + groupBytes);
      in.readNBytes(all, GROUP_OFFSET, groupBytes);
      return all;
    }

    /** The rank, in the group of all, that connects. */
    private int rankIn(byte[] hello) {
      int rank = ByteBuffer.wrap(hello).getInt(RANK_OFFSET);
      String group = new String(hello, GROUP_OFFSET, hello.length - GROUP_OFFSET, UTF_8);
      return group.contains(SHRUNK) && rank >= victim ? rank + 1 : rank;
    }

    private void pass(Socket source, Socket sink) {
      byte[] bytes = new byte[BUFFER_BYTES];
      try {
        InputStream in = source.getInputStream();
        OutputStream out = sink.getOutputStream();
        for (int count = in.read(bytes); count > 0; count = in.read(bytes)) {
          if (!isCut()) {
            out.write(bytes, 0, count);
          }
        }
        if (!isCut()) {
          sink.shutdownOutput();
          endOneWay();
        }
      } catch (IOException broken) {
        if (!isCut()) {
          reset();
        }
      }
    }

    private synchronized void endOneWay() throws IOException {
      ended++;
      if (ended == 2) {
        near.close();
        far.close();
        links.remove(this);
      }
    }

    /** Whether there was anything to break. */
    synchronized boolean reset() {
      links.remove(this);
      if (reset) {
        return false;
      }
      reset = true;
      for (Socket socket : List.of(near, far)) {
        try {
          // Without waiting for what was not sent yet: both ends get a reset.
          socket.setSoLinger(true, 0);
          socket.close();
        } catch (IOException closed) {
          // By its other end.
        }
      }
      return true;
    }
  }
}
