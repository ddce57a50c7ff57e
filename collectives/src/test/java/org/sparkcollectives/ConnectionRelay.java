package org.sparkcollectives;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * A relay in front of a rank's port. It passes connections on, and holds up those of one kind in
 * the middle of their data.
 */
final class ConnectionRelay implements AutoCloseable {

  /** The offset of the kind in the first message of a handshake, after two ranks. */
  private static final int KIND_OFFSET = 2 + 4 + 2 + 16 + 2 * 4;

  private static final String HOST = "127.0.1.1";

  private final ServerSocket listener = new ServerSocket();
  private final int heldKind;
  private final long passed;
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final List<Socket> sockets = new ArrayList<>();
  private final List<Socket> heldSockets = new ArrayList<>();
  private final ConcurrentHashMap<Integer, Integer> connections = new ConcurrentHashMap<>();

  /**
   * Creates a relay for a rank with {@link #settings()}.
   *
   * @param heldKind the kind to hold up, as handshakes state it; -1 for none
   * @param passed after so many bytes
   */
  ConnectionRelay(int heldKind, long passed) throws IOException {
    this.heldKind = heldKind;
    this.passed = passed;
    Random random = new Random();
    while (!listener.isBound()) {
      try {
        listener.bind(new InetSocketAddress(HOST, 20_000 + random.nextInt(10_000)));
      } catch (BindException taken) {
        // The next port is tried.
      }
    }
    start(this::accept);
  }

  private static void start(Runnable body) {
    Thread thread = new Thread(body, "relay");
    thread.setDaemon(true);
    thread.start();
  }

  /** Returns the settings with which a rank listens behind this relay. */
  List<String> settings() {
    return List.of(
        "spark.collectives.host=" + HOST,
        "spark.collectives.port=" + listener.getLocalPort(),
        "spark.port.maxRetries=0");
  }

  /** Returns how many connections of a kind there have been. */
  int connections(int kind) {
    return connections.getOrDefault(kind, 0);
  }

  /** Waits until a connection is held up. */
  void awaitHeld() throws InterruptedException {
    held.await();
  }

  /** Lets the connections that are held up go on. */
  void release() {
    released.countDown();
  }

  /** Breaks the connections that are held up. */
  synchronized void resetHeld() throws IOException {
    for (Socket each : heldSockets) {
      each.setSoLinger(true, 0);
      each.close();
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket near = listener.accept();
        start(() -> pass(near));
      }
    } catch (IOException closed) {
      // The connection has ended.
    }
  }

  private void pass(Socket near) {
    try {
      Socket far = new Socket();
      synchronized (this) {
        sockets.add(near);
        sockets.add(far);
      }
      byte[] first = near.getInputStream().readNBytes(KIND_OFFSET + Integer.BYTES);
      if (first.length < KIND_OFFSET + Integer.BYTES) {
        near.close();
        return;
      }
      int kind = ByteBuffer.wrap(first).getInt(KIND_OFFSET);
      connections.merge(kind, 1, Integer::sum);
      far.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.getLocalPort()));
      far.getOutputStream().write(first);
      if (kind == heldKind) {
        synchronized (this) {
          heldSockets.add(near);
          heldSockets.add(far);
        }
      }
      start(() -> copy(far, near, Long.MAX_VALUE));
      copy(near, far, kind == heldKind ? passed : Long.MAX_VALUE);
    } catch (IOException broken) {
      close(near);
    }
  }

  private void copy(Socket source, Socket sink, long most) {
    byte[] bytes = new byte[1 << 14];
    long copied = 0;
    try {
      InputStream in = source.getInputStream();
      OutputStream out = sink.getOutputStream();
      for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
        if (copied > most) {
          held.countDown();
          released.await();
        }
        out.write(bytes, 0, count);
        copied += count;
      }
      sink.shutdownOutput();
    } catch (IOException broken) {
      close(source);
      close(sink);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public synchronized void close() throws IOException {
    released.countDown();
    listener.close();
    for (Socket each : sockets) {
      each.close();
    }
  }
}
