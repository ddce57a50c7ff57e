package org.sparkcollectives.spark.internal.python;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkcollectives.spark.internal.python.BridgeWorker.buffer;
import static org.sparkcollectives.spark.internal.python.BridgeWorker.text;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;

/** Tests the bridge as a worker sees it over its socket. */
class PythonBridgeTest {

  private static final long ATTEMPT = 4711;
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir Path folder;

  private final PythonBridge bridge = new PythonBridge(() -> folder);
  private final HashStore store = new HashStore();
  private final List<byte[]> reports = new CopyOnWriteArrayList<>();
  private ProcessGroup world;
  private PythonBridge.Address address;

  @BeforeEach
  void taskBegins() throws IOException {
    world =
        ProcessGroups.create(
            store, 0, 1, GroupOptions.defaults().withName("python").withTimeout(LONG));
    address = bridge.begin(new StubTask(ATTEMPT, world, reports));
  }

  @AfterEach
  void taskEnds() throws InterruptedException {
    world.close();
    bridge.end(ATTEMPT);
    store.close();
    StubTask.awaitEndOfThreads(LONG);
  }

  private BridgeWorker connect() throws IOException {
    return new BridgeWorker(address, ATTEMPT);
  }

  @Test
  void aWorkerThatHasTheSecretJoinsAndCalls() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      ByteBuffer joined = worker.call(CallCode.JOIN, 0, new byte[0]);
      assertThat(joined.get()).isEqualTo(Reply.DONE);
      assertThat(new int[] {joined.getInt(), joined.getInt(), joined.getInt()})
          .containsExactly(0, 0, 1);
      assertThat(joined.getLong()).isEqualTo(LONG.toMillis());
      assertThat(text(joined)).isEqualTo("python");
      assertThat(worker.call(OpType.BARRIER.code(), 0, new byte[0]).get()).isEqualTo(Reply.DONE);
    }
  }

  @Test
  void aWorkerThatDoesNotHaveTheSecretIsRefused() throws IOException {
    byte[] secret = HexFormat.of().parseHex(address.secret());
    byte[] other = secret.clone();
    other[31] ^= 1;
    try (BridgeWorker wrong = connect();
        BridgeWorker elsewhere = connect();
        BridgeWorker newer = connect();
        BridgeWorker stranger = connect()) {
      assertThat(wrong.prove(BridgeHandshake.VERSION, ATTEMPT, 0, other)).isEqualTo(2);
      assertThat(wrong.in().read()).isEqualTo(-1);
      assertThat(elsewhere.prove(BridgeHandshake.VERSION, ATTEMPT + 1, 0, secret)).isEqualTo(2);
      assertThat(newer.prove(BridgeHandshake.VERSION + 1, ATTEMPT, 0, secret)).isEqualTo(1);
      stranger
          .socket()
          .getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: localhost:80\r\n\r\n".getBytes(US_ASCII));
      assertThat(stranger.in().read()).isEqualTo(-1);
    }
  }

  @Test
  void whatIsWrongIsToldAndTheConnectionGoesOn() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      ByteBuffer early = worker.call(OpType.BARRIER.code(), 0, new byte[0]);
      assertThat(early.get()).isEqualTo(Reply.FAILED);
      assertThat(text(early)).isEqualTo("state");
      assertThat(text(early)).contains("init_process_group");
      worker.call(CallCode.JOIN, 0, new byte[0]);
      ByteBuffer unknown = worker.call(127, 0, new byte[0]);
      assertThat(unknown.get()).isEqualTo(Reply.FAILED);
      assertThat(text(unknown)).isEqualTo("argument");
      assertThat(text(unknown)).contains("no call 127");
      byte[] missing = buffer(8).putLong(99).array();
      ByteBuffer work = worker.call(CallCode.AWAIT_WORK, 0, missing);
      assertThat(work.get()).isEqualTo(Reply.FAILED);
      assertThat(text(work)).isEqualTo("argument");
      assertThat(worker.call(OpType.BARRIER.code(), 0, new byte[0]).get()).isEqualTo(Reply.DONE);
    }
  }

  @Test
  void aReportOfAWorkerReachesWhoeverWaitsForItWithTheRankOfTheTask() throws Exception {
    RankReports run = RankReports.open();
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      byte[] report =
          buffer(19).put(HexFormat.of().parseHex(run.id())).put(US_ASCII.encode("abc")).array();
      assertThat(worker.call(CallCode.REPORT, 0, report).get()).isEqualTo(Reply.DONE);
      assertThat(worker.call(CallCode.REPORT, 0, new byte[3]).get()).isEqualTo(Reply.FAILED);
      assertThat(reports).hasSize(1);
      RankReports.receive(reports.get(0));
      assertThat(run.take(0))
          .isEqualTo(buffer(11).putInt(3).putInt(0).put(US_ASCII.encode("abc")).array());
    } finally {
      run.close();
    }
  }

  @Test
  void aFrameThatIsTooLongEndsTheConnection() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.socket().getOutputStream().write(buffer(4).putInt(Integer.MAX_VALUE).array());
      assertThat(worker.in().read()).isEqualTo(-1);
    }
  }

  @Test
  void theEndOfAnAsynchronousCallIsToldOnce() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      ByteBuffer begun = worker.call(OpType.BARRIER.code(), 1, new byte[0]);
      assertThat(begun.get()).isEqualTo(Reply.DONE);
      byte[] id = buffer(8).putLong(begun.getLong()).array();
      assertThat(worker.call(CallCode.AWAIT_WORK, 0, id).get()).isEqualTo(Reply.DONE);
      assertThat(worker.call(CallCode.TEST_WORK, 0, id).get()).isEqualTo(Reply.FAILED);
    }
  }

  @Test
  void memoryIsWrittenAndReadThroughTheSocketWhereItCannotBeMapped() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      ByteBuffer made = worker.call(CallCode.ALLOCATE, 2, buffer(8).putLong(1000).array());
      assertThat(made.get()).isEqualTo(Reply.DONE);
      int segment = made.getInt();
      byte[] written = buffer(15).putInt(segment).putLong(500).put("abc".getBytes(UTF_8)).array();
      assertThat(worker.call(CallCode.WRITE, 0, written).get()).isEqualTo(Reply.DONE);
      byte[] range = buffer(16).putInt(segment).putLong(499).putInt(5).array();
      ByteBuffer read = worker.call(CallCode.READ, 0, range);
      assertThat(read.get()).isEqualTo(Reply.DONE);
      assertThat(text(read)).isEqualTo("\0abc\0");
      byte[] beyond = buffer(16).putInt(segment).putLong(999).putInt(2).array();
      assertThat(worker.call(CallCode.READ, 0, beyond).get()).isEqualTo(Reply.FAILED);
    }
  }

  @Test
  void anArrayWithoutANumberIsNamedBeforeItIsReduced() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      ByteBuffer made = worker.call(CallCode.ALLOCATE, 2, buffer(8).putLong(64).array());
      made.get();
      int segment = made.getInt();
      worker.post(CallCode.CHECK_NUMBERS, 0, 0, new byte[0], segment, 16);
      assertThat(worker.take().get()).isEqualTo(Reply.DONE);
      byte[] nan = buffer(16).putInt(segment).putLong(20).putFloat(Float.NaN).array();
      worker.call(CallCode.WRITE, 0, nan);
      worker.post(CallCode.CHECK_NUMBERS, 0, 0, new byte[0], segment, 16);
      ByteBuffer refused = worker.take();
      assertThat(refused.get()).isEqualTo(Reply.FAILED);
      assertThat(text(refused)).isEqualTo("argument");
      assertThat(text(refused)).contains("on rank 0 of 1: element 5 of the 16 of the tensor");
    }
  }

  @Test
  void aWorkerThatWaitsForOthersLearnsThatTheGroupHasFailed() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      assertThat(worker.call(CallCode.CHECK_GROUP, 0, new byte[0]).get()).isEqualTo(Reply.DONE);
      world.abort(new IllegalStateException("enough"));
      ByteBuffer failed = worker.call(CallCode.CHECK_GROUP, 0, new byte[0]);
      assertThat(failed.get()).isEqualTo(Reply.FAILED);
      assertThat(text(failed)).isEqualTo("aborted");
      assertThat(text(failed)).contains("enough");
    }
  }

  @Test
  void recordsHaveTheShapesOfArrays() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      ByteBuffer made = worker.call(CallCode.ALLOCATE, 2, buffer(8).putLong(64).array());
      made.get();
      int segment = made.getInt();
      long[][] shapes = {{3, 4}, {12}, {}, {2, 2, 3}};
      for (long[] shape : shapes) {
        ByteBuffer reduced = worker.callOn(OpType.ALL_REDUCE.code(), segment, shape);
        assertThat(reduced.get()).isEqualTo(Reply.DONE);
      }
      assertThat(world.flightRecorder().records())
          .extracting(FlightRecord::inputShapes)
          .containsExactly(
              List.of(List.of(3L, 4L)),
              List.of(List.of(12L)),
              List.of(List.of()),
              List.of(List.of(2L, 2L, 3L)));
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void memoryThatAWorkerMapsGoesWithItsGroup() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      ByteBuffer made = worker.call(CallCode.ALLOCATE, 0, buffer(8).putLong(1000).array());
      assertThat(made.get()).isEqualTo(Reply.DONE);
      made.getInt();
      Path file = Path.of(text(made));
      assertThat(Files.readSymbolicLink(file)).asString().contains("spark-collectives-");
      assertThat(worker.call(CallCode.CLOSE_GROUP, 0, new byte[0]).get()).isEqualTo(Reply.DONE);
      // The descriptor's number may belong to another file by now.
      assertThat(Files.exists(file) ? Files.readSymbolicLink(file).toString() : "")
          .doesNotContain("spark-collectives-");
    }
  }

  @Test
  void aWorkerThatEndsWithoutGoodbyeAbortsItsGroups() throws Exception {
    try (BridgeWorker calls = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      calls.call(CallCode.JOIN, 0, new byte[0]);
      connect().proven(BridgeHandshake.Purpose.LIFE).close();
      long deadline = System.nanoTime() + LONG.toNanos();
      ByteBuffer reply = calls.call(OpType.BARRIER.code(), 0, new byte[0]);
      while (reply.get() == Reply.DONE && System.nanoTime() < deadline) {
        reply = calls.call(OpType.BARRIER.code(), 0, new byte[0]);
      }
      assertThat(text(reply)).isNotEqualTo("argument");
      assertThat(text(reply)).contains("the Python worker of rank 0 (process 1) ended");
    }
  }

  @Test
  void aWorkerThatSaysGoodbyeMayGo() throws Exception {
    try (BridgeWorker calls = connect().proven(BridgeHandshake.Purpose.CALLS);
        BridgeWorker life = connect().proven(BridgeHandshake.Purpose.LIFE)) {
      calls.call(CallCode.JOIN, 0, new byte[0]);
      life.socket().getOutputStream().write(CallCode.GOODBYE);
      // The bridge closes its end once it has read that.
      assertThat(life.in().read()).isEqualTo(-1);
      // Waits longer than the bridge waits before it takes the end of a worker for a failure.
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300);
      while (System.nanoTime() < end) {
        assertThat(calls.call(OpType.BARRIER.code(), 0, new byte[0]).get()).isEqualTo(Reply.DONE);
      }
    }
  }

  @Test
  void theEndOfATaskClosesItsConnectionsAndThePort() throws IOException {
    try (BridgeWorker worker = connect().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      bridge.end(ATTEMPT);
      assertThatThrownBy(() -> worker.call(OpType.BARRIER.code(), 0, new byte[0]))
          .isInstanceOfAny(EOFException.class, java.net.SocketException.class);
    }
    // The kernel releases the port when the accepting thread has left it.
    Eventually.holds(() -> isRefused(address.host(), address.port()), () -> "the port is closed");
  }

  private static boolean isRefused(String host, int port) {
    try {
      new Socket(host, port).close();
      return false;
    } catch (ConnectException e) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
