package org.sparkcollectives.spark.internal.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.store.HashStore;

/** Tests the bridge when somebody misuses its port, or the system has no resources left. */
class PythonBridgeLoadTest {

  private static final long ATTEMPT = 3;
  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir Path folder;

  private final HashStore store = new HashStore();
  private final ProcessGroup world =
      ProcessGroups.create(
          store, 0, 1, GroupOptions.defaults().withName("python").withTimeout(LONG));
  private PythonBridge bridge;
  private PythonBridge.Address address;

  private void begin(
      PythonBridge.Listening listening, ThreadFactory threads, Duration handshakeLimit)
      throws IOException {
    bridge = new PythonBridge(() -> folder, listening, threads, handshakeLimit);
    address = bridge.begin(new StubTask(ATTEMPT, world, List.of()));
  }

  private static ServerSocket loopback(int backlog) throws IOException {
    return new ServerSocket(0, backlog, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void taskEnds() throws InterruptedException {
    world.close();
    bridge.end(ATTEMPT);
    store.close();
    StubTask.awaitEndOfThreads(LONG);
  }

  /** Connects as a worker does: retries while the bridge closes the connection. */
  private BridgeWorker connect() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + LONG.toNanos();
    while (true) {
      BridgeWorker worker = new BridgeWorker(address, ATTEMPT);
      try {
        return worker.proven(BridgeHandshake.Purpose.CALLS);
      } catch (IOException | IndexOutOfBoundsException e) {
        worker.close();
        if (System.nanoTime() > deadline) {
          throw new IOException("no connection within " + LONG, e);
        }
        Thread.sleep(20);
      }
    }
  }

  private static void callBarrier(BridgeWorker worker) throws IOException {
    assertThat(worker.call(OpType.BARRIER.code(), 0, new byte[0]).get()).isEqualTo(Reply.DONE);
  }

  @Test
  void aHandshakeHasOneDeadlineHoweverSlowlyItsBytesCome() throws Exception {
    begin(PythonBridgeLoadTest::loopback, Thread::new, Duration.ofMillis(500));
    byte[] hello = BridgeWorker.hello(BridgeHandshake.VERSION, ATTEMPT, 0);
    try (BridgeWorker slow = new BridgeWorker(address, ATTEMPT)) {
      boolean answered = false;
      try {
        for (byte each : hello) {
          slow.socket().getOutputStream().write(each);
          Thread.sleep(50);
        }
        answered = slow.in().read() >= 0;
      } catch (IOException e) {
        // The bridge has closed the connection.
      }
      assertThat(answered).isFalse();
    }
  }

  @Test
  void whoConnectsAndSaysNothingKeepsNobodyOutAndDisturbsNobody() throws Exception {
    begin(PythonBridgeLoadTest::loopback, Thread::new, Duration.ofMinutes(5));
    List<Socket> silent = new ArrayList<>();
    try (BridgeWorker working = connect()) {
      working.call(CallCode.JOIN, 0, new byte[0]);
      for (int i = 0; i < 1000; i++) {
        silent.add(new Socket(address.host(), address.port()));
        if (i % 100 == 0) {
          callBarrier(working);
        }
      }
      byte[] wrong = HexFormat.of().parseHex(address.secret());
      wrong[0] ^= 1;
      try (BridgeWorker refused = new BridgeWorker(address, ATTEMPT)) {
        assertThat(refused.prove(BridgeHandshake.VERSION, ATTEMPT, 0, wrong)).isNotZero();
      } catch (IOException | IndexOutOfBoundsException e) {
        // Closed, because all places were taken.
      }
      try (BridgeWorker late = connect()) {
        callBarrier(late);
      }
      callBarrier(working);
      long threads =
          Thread.getAllStackTraces().keySet().stream()
              .filter(each -> each.getName().startsWith("collectives-python-"))
              .count();
      assertThat(threads).isLessThan(100);
    } finally {
      for (Socket each : silent) {
        each.close();
      }
    }
  }

  @Test
  void whereNoFileDescriptorIsFreeTheBridgeWaits() throws Exception {
    AtomicInteger failures = new AtomicInteger();
    AtomicBoolean full = new AtomicBoolean(true);
    begin(
        backlog ->
            new ServerSocket(0, backlog, InetAddress.getLoopbackAddress()) {
              @Override
              public Socket accept() throws IOException {
                if (full.get()) {
                  failures.incrementAndGet();
                  throw new IOException("Too many open files");
                }
                return super.accept();
              }
            },
        Thread::new,
        LONG);
    Thread.sleep(500);
    full.set(false);
    try (BridgeWorker worker = connect()) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      callBarrier(worker);
    }
    assertThat(failures).hasValueBetween(1, 50);
  }

  @Test
  void whereNoThreadIsFreeTheBridgeTriesAgain() throws Exception {
    AtomicInteger made = new AtomicInteger();
    begin(
        PythonBridgeLoadTest::loopback,
        body -> {
          // The first thread is the one that accepts.
          if (made.incrementAndGet() == 2) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          return new Thread(body);
        },
        LONG);
    try (BridgeWorker worker = connect()) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      callBarrier(worker);
    }
    assertThat(made.get()).isGreaterThan(2);
  }
}
