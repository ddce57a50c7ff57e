package org.sparkcollectives.spark.python;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the Python workers of a JVM's tasks connect: a port on the loopback address, open while
 * there are tasks. Thread-safe.
 */
public final class PythonBridge {

  private static final Logger LOG = LoggerFactory.getLogger(PythonBridge.class);

  private static final int BACKLOG = 128;

  /** Connections that have not proven themselves yet. */
  private static final int MOST_STRANGERS = 64;

  private static final int HANDSHAKE_MILLIS = 10_000;
  private static final int SECRET_BYTES = 32;

  private final Supplier<Path> folder;
  private final Map<Long, TaskBridge> tasks = new ConcurrentHashMap<>();
  private final Semaphore strangers = new Semaphore(MOST_STRANGERS);
  private final AtomicLong connections = new AtomicLong();
  private ServerSocket server;

  /** What a task's workers need to connect. */
  public record Address(String host, int port, String secret) {}

  /**
   * Opens nothing yet.
   *
   * @param folder on a local disk, for tensors that find no room in memory
   */
  public PythonBridge(Supplier<Path> folder) {
    this.folder = folder;
  }

  /**
   * A task begins whose workers may connect, with a secret of its own. Does not block.
   *
   * @throws IOException if no port could be opened
   */
  public Address begin(PythonTask task) throws IOException {
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    return begin(task, HexFormat.of().formatHex(secret));
  }

  /**
   * A task begins whose workers may connect, with a secret that another task's have, too. Does not
   * block.
   *
   * @throws IOException if no port could be opened
   */
  public synchronized Address begin(PythonTask task, String secret) throws IOException {
    if (server == null) {
      ServerSocket opened = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
      server = opened;
      start("collectives-python-bridge", () -> accept(opened));
    }
    tasks.put(task.attempt(), new TaskBridge(task, HexFormat.of().parseHex(secret), folder));
    return new Address(server.getInetAddress().getHostAddress(), server.getLocalPort(), secret);
  }

  /** A task has failed; its groups were aborted with the cause. */
  public void failed(long attempt) {
    TaskBridge bridge = tasks.get(attempt);
    if (bridge != null) {
      bridge.taskFailed();
    }
  }

  /** A task has ended, and closed its groups. See {@link TaskBridge#close} for how this blocks. */
  public void end(long attempt) {
    TaskBridge bridge;
    synchronized (this) {
      bridge = tasks.remove(attempt);
      if (tasks.isEmpty() && server != null) {
        close(server);
        server = null;
      }
    }
    if (bridge != null) {
      bridge.close();
    }
  }

  private static void start(String name, Runnable body) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept(ServerSocket listening) {
    while (!listening.isClosed()) {
      try {
        Socket socket = listening.accept();
        if (strangers.tryAcquire()) {
          start("collectives-python-" + connections.incrementAndGet(), () -> serve(socket));
        } else {
          LOG.warn(
              "{} connections to the Python bridge have not proven themselves", MOST_STRANGERS);
          close(socket);
        }
      } catch (IOException e) {
        if (!listening.isClosed()) {
          LOG.warn("The Python bridge could not accept a connection: {}", e.toString());
        }
      }
    }
  }

  private void serve(Socket socket) {
    WorkerConnection connection;
    try {
      connection = new WorkerConnection(socket, handshake(socket));
    } catch (IOException e) {
      LOG.warn("The Python bridge refused {}: {}", socket.getRemoteSocketAddress(), e.getMessage());
      close(socket);
      return;
    } finally {
      strangers.release();
    }
    connection.serve();
  }

  private BridgeHandshake.Worker handshake(Socket socket) throws IOException {
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(HANDSHAKE_MILLIS);
    BridgeHandshake.Worker worker =
        BridgeHandshake.answer(socket.getInputStream(), socket.getOutputStream(), tasks::get);
    socket.setSoTimeout(0);
    return worker;
  }

  private static void close(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception e) {
      LOG.debug("{} could not be closed in good order", each, e);
    }
  }
}
