package org.sparkcollectives.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Forwards connections to a local port, and records all bytes that pass. On demand it drops
 * everything from then on without closing a connection, as a network does that is cut.
 */
public final class Wiretap implements AutoCloseable {

  private final ServerSocket listener;
  private final int target;
  private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  private volatile boolean cut;

  private Wiretap(int target, int port, InetAddress address) throws IOException {
    this.target = target;
    this.listener = new ServerSocket(port, 50, address);
  }

  /** Starts a wiretap in front of a port. */
  public static Wiretap on(int target) throws IOException {
    return begin(new Wiretap(target, 0, InetAddress.getLoopbackAddress()));
  }

  /** Starts a wiretap in front of a port, at the same port of another address of this host. */
  public static Wiretap on(int target, String address) throws IOException {
    return begin(new Wiretap(target, target, InetAddress.getByName(address)));
  }

  private static Wiretap begin(Wiretap wiretap) {
    start(wiretap::accept);
    return wiretap;
  }

  private static void start(Runnable body) {
    Thread thread = new Thread(body, "wiretap");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        connect(listener.accept());
      }
    } catch (IOException closed) {
      // The end.
    }
  }

  /** Connects to a port that may not be listened on yet; then the client loses its connection. */
  private void connect(Socket client) throws IOException {
    try {
      Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
      sockets.addAll(List.of(client, server));
      start(() -> pass(client, server));
      start(() -> pass(server, client));
    } catch (ConnectException refused) {
      client.close();
    }
  }

  private void pass(Socket from, Socket to) {
    byte[] bytes = new byte[8192];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int count = in.read(bytes); count > 0; count = in.read(bytes)) {
        if (cut) {
          continue;
        }
        synchronized (seen) {
          seen.write(bytes, 0, count);
        }
        out.write(bytes, 0, count);
      }
    } catch (IOException closed) {
      // The end.
    }
  }

  /** Drops all bytes from now on, in both directions. */
  public void cut() {
    cut = true;
  }

  /** Returns the port to connect to. */
  public int port() {
    return listener.getLocalPort();
  }

  /** Returns all bytes of both directions, each as the character of its value. */
  public String seen() {
    synchronized (seen) {
      return seen.toString(ISO_8859_1);
    }
  }

  /** Closes all connections, so that both sides notice. */
  public void breakConnections() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    breakConnections();
  }
}
