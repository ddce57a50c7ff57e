package org.sparkcollectives.spark.internal.python;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.net.LibraryThreads;

/**
 * The port on the loopback address to which the Python workers of a JVM's tasks connect. It is open
 * while there are tasks. Thread-safe.
 */
final class PythonBridge {

  private static final Logger LOG = LoggerFactory.getLogger(PythonBridge.class);

  private static final int BACKLOG = 128;

  private static final int MOST_PENDING_HANDSHAKES = 64;
  private static final Duration HANDSHAKE_LIMIT = Duration.ofSeconds(10);
  private static final int SECRET_BYTES = 32;

  /** The first pause after a connection could not be accepted; it doubles each time. */
  private static final long SHORTEST_PAUSE_MILLIS = 10;

  private static final long LONGEST_PAUSE_MILLIS = 1_000;
  private static final long WARNING_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<Path> folder;
  private final Listening listening;
  private final ThreadFactory threads;
  private final Duration handshakeLimit;
  private final Map<Long, TaskBridge> tasks = new ConcurrentHashMap<>();
  private final PendingHandshakes pending =
      new PendingHandshakes(MOST_PENDING_HANDSHAKES, System::nanoTime);
  private final AtomicLong connections = new AtomicLong();
  private final AtomicLong lastWarning = new AtomicLong(System.nanoTime() - WARNING_NANOS);
  private Server server;

  /** Opens the port of the bridge. */
  interface Listening {
    ServerSocket open(int backlog) throws IOException;
  }

  /** The open port; {@code closed} wakes the thread that accepts. */
  private record Server(ServerSocket socket, CountDownLatch closed) {}

  /** The data with which a task's workers connect. */
  record Address(String host, int port, String secret) {

    /** Does not show the secret. */
    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  /**
   * Creates the bridge, which opens nothing yet.
   *
   * @param folder on a local disk, for tensors for which there is no space in memory
   */
  PythonBridge(Supplier<Path> folder) {
    this(
        folder,
        backlog -> new ServerSocket(0, backlog, InetAddress.getLoopbackAddress()),
        LibraryThreads.named("collectives-python"),
        HANDSHAKE_LIMIT);
  }

  PythonBridge(
      Supplier<Path> folder, Listening listening, ThreadFactory threads, Duration handshakeLimit) {
    this.folder = folder;
    this.listening = listening;
    this.threads = threads;
    this.handshakeLimit = handshakeLimit;
  }

  /**
   * Begins a task whose workers may connect, with a secret of its own. Does not block.
   *
   * @throws IOException if no port could be opened
   */
  Address begin(PythonTask task) throws IOException {
    return begin(task, newSecret());
  }

  /** Draws a secret for {@link #begin(PythonTask, String)}. */
  static String newSecret() {
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    return HexFormat.of().formatHex(secret);
  }

  /**
   * Begins a task whose workers may connect, with a secret that it shares with another task. Does
   * not block.
   *
   * @throws IOException if no port could be opened
   */
  synchronized Address begin(PythonTask task, String secret) throws IOException {
    if (server == null) {
      server = open();
    }
    tasks.put(task.attempt(), new TaskBridge(task, HexFormat.of().parseHex(secret), folder));
    ServerSocket socket = server.socket();
    return new Address(socket.getInetAddress().getHostAddress(), socket.getLocalPort(), secret);
  }

  private Server open() throws IOException {
    Server opened = new Server(listening.open(BACKLOG), new CountDownLatch(1));
    boolean started = false;
    try {
      start("collectives-python-bridge", () -> accept(opened));
      started = true;
      return opened;
    } finally {
      if (!started) {
        close(opened.socket());
      }
    }
  }

  /** Marks a task as failed; its groups were aborted with the cause. */
  void failed(long attempt) {
    TaskBridge bridge = tasks.get(attempt);
    if (bridge != null) {
      bridge.taskFailed();
    }
  }

  /** Ends a task that has closed its groups. Blocks as {@link TaskBridge#close} does. */
  void end(long attempt) {
    TaskBridge bridge;
    synchronized (this) {
      bridge = tasks.remove(attempt);
      if (tasks.isEmpty() && server != null) {
        close(server.socket());
        server.closed().countDown();
        server = null;
        pending.closeAll();
      }
    }
    if (bridge != null) {
      bridge.close();
    }
  }

  private void start(String name, Runnable body) {
    Thread thread = threads.newThread(body);
    thread.setName(name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept(Server opened) {
    long pause = SHORTEST_PAUSE_MILLIS;
    while (!opened.socket().isClosed()) {
      try {
        admit(opened.socket().accept());
        pause = SHORTEST_PAUSE_MILLIS;
      } catch (IOException | OutOfMemoryError e) {
        // No file descriptor, no thread or no memory is free: others may release some.
        if (!opened.socket().isClosed()) {
          warn("could not accept a connection, and tries again in " + pause + " ms: " + e);
          pause = awaitClose(opened, pause);
        }
      }
    }
  }

  /** Waits, unless the port is closed meanwhile. Returns how long the next such wait is. */
  private static long awaitClose(Server opened, long millis) {
    try {
      if (opened.closed().await(millis, TimeUnit.MILLISECONDS)) {
        return millis;
      }
    } catch (InterruptedException e) {
      // Nobody interrupts this thread; the loop ends with the port.
      LOG.debug("An interrupt of the Python bridge is ignored", e);
    }
    return Math.min(2 * millis, LONGEST_PAUSE_MILLIS);
  }

  private void admit(Socket socket) {
    boolean served = false;
    try {
      if (pending.add(socket)) {
        start("collectives-python-" + connections.incrementAndGet(), () -> serve(socket));
        served = true;
      } else {
        warn("has " + MOST_PENDING_HANDSHAKES + " handshakes under way, and refuses one more");
      }
    } finally {
      if (!served) {
        drop(socket);
      }
    }
  }

  private void drop(Socket socket) {
    pending.remove(socket);
    close(socket);
  }

  private void serve(Socket socket) {
    WorkerConnection connection = null;
    try {
      connection = new WorkerConnection(socket, handshake(socket));
      pending.remove(socket);
    } catch (IOException e) {
      warn("refused " + socket.getRemoteSocketAddress() + ": " + e.getMessage());
    } finally {
      if (connection == null) {
        drop(socket);
      }
    }
    if (connection != null) {
      connection.serve();
    }
  }

  private BridgeHandshake.Worker handshake(Socket socket) throws IOException {
    socket.setTcpNoDelay(true);
    BridgeHandshake.Worker worker =
        BridgeHandshake.answer(
            new DeadlineInputStream(socket, handshakeLimit), socket.getOutputStream(), tasks::get);
    socket.setSoTimeout(0);
    return worker;
  }

  /** Warns at most once a second, because whoever connects causes it. */
  private void warn(String what) {
    long now = System.nanoTime();
    long last = lastWarning.get();
    if (now - last >= WARNING_NANOS && lastWarning.compareAndSet(last, now)) {
      LOG.warn("The Python bridge {}", what);
    } else {
      LOG.debug("The Python bridge {}", what);
    }
  }

  static void close(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception e) {
      LOG.debug("{} could not be closed in good order", each, e);
    }
  }
}
