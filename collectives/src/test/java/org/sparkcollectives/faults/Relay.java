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
 * Relays connections to an address, until they must be dropped or reset. The two ranks of each
 * connection are known from its first bytes, or from the relay.
 */
final class Relay implements AutoCloseable {

  /** The number that stands for the store in place of a rank. */
  static final int STORE = -1;

  /** The offset of the connecting rank in the first message of a handshake, after its length. */
  private static final int RANK_OFFSET = 2 + 4 + 2 + 16;

  /** The offset of the group's name, after its own length. */
  private static final int GROUP_OFFSET = RANK_OFFSET + 3 * 4 + 2;

  /**
   * The text that distinguishes the name of a group without the victim from that of the group it
   * was made from.
   */
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
   * Creates a relay in front of {@code target}.
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

  /** Returns the port to connect to. */
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
      // The connection has ended.
    }
  }

  /** Resets all connections of a rank; returns how many there were. */
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
          // The packets are dropped, as if it had never been connected, until it is reset.
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

    /** Returns the connecting rank, in the group of all. */
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

    /** Resets the connection; returns whether there was anything to reset. */
    synchronized boolean reset() {
      links.remove(this);
      if (reset) {
        return false;
      }
      reset = true;
      for (Socket socket : List.of(near, far)) {
        try {
          // The close does not wait for unsent bytes: both ends get a reset.
          socket.setSoLinger(true, 0);
          socket.close();
        } catch (IOException closed) {
          // The other end has closed it.
        }
      }
      return true;
    }
  }
}
