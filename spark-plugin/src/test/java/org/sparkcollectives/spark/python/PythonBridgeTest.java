package org.sparkcollectives.spark.python;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.net.HmacSha256;

/** The bridge, as a worker sees it over its socket. */
class PythonBridgeTest {

  private static final long ATTEMPT = 4711;
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir Path folder;

  private final PythonBridge bridge = new PythonBridge(() -> folder);
  private final HashStore store = new HashStore();
  private ProcessGroup world;
  private PythonBridge.Address address;

  @BeforeEach
  void taskBegins() throws IOException {
    world =
        ProcessGroups.create(
            store, 0, 1, GroupOptions.defaults().withName("python").withTimeout(LONG));
    address = bridge.begin(task());
  }

  private PythonTask task() {
    return new PythonTask() {
      @Override
      public long attempt() {
        return ATTEMPT;
      }

      @Override
      public int rank() {
        return 0;
      }

      @Override
      public ProcessGroup join(GroupOptions options) {
        return world;
      }
    };
  }

  @AfterEach
  void taskEnds() throws InterruptedException {
    world.close();
    bridge.end(ATTEMPT);
    store.close();
    for (Thread each : Thread.getAllStackTraces().keySet()) {
      if (each.getName().startsWith("collectives-python")) {
        each.join(LONG.toMillis());
        assertThat(each.isAlive()).as(each.getName()).isFalse();
      }
    }
  }

  /** A worker that speaks the protocol with nothing but sockets. */
  private final class Worker implements AutoCloseable {

    private final Socket socket = new Socket(address.host(), address.port());
    private final DataInputStream in = new DataInputStream(socket.getInputStream());

    Worker() throws IOException {
      socket.setSoTimeout((int) LONG.toMillis());
    }

    /** Shakes hands; gives the status at the end. */
    int prove(int version, long attempt, int purpose, byte[] secret) throws IOException {
      byte[] hello =
          buffer(BridgeHandshake.HELLO_BYTES)
              .putInt(BridgeHandshake.MAGIC)
              .putShort((short) version)
              .put((byte) purpose)
              .put((byte) 0)
              .putLong(attempt)
              .putInt(1)
              .put(new byte[BridgeHandshake.NONCE_BYTES])
              .array();
      socket.getOutputStream().write(hello);
      byte[] challenge = in.readNBytes(8 + BridgeHandshake.NONCE_BYTES);
      if (challenge[6] != 0) {
        return challenge[6];
      }
      socket.getOutputStream().write(proof("client", hello, challenge, secret));
      byte[] answer = in.readNBytes(1 + BridgeHandshake.PROOF_BYTES);
      if (answer[0] == 0) {
        assertThat(ByteBuffer.wrap(answer, 1, BridgeHandshake.PROOF_BYTES))
            .isEqualTo(ByteBuffer.wrap(proof("server", hello, challenge, secret)));
      }
      return answer[0];
    }

    private byte[] proof(String who, byte[] hello, byte[] challenge, byte[] secret) {
      Mac mac = HmacSha256.under(secret);
      mac.update(who.getBytes(US_ASCII));
      mac.update(hello, BridgeHandshake.HELLO_BYTES - 16, 16);
      mac.update(challenge, 8, 16);
      mac.update(hello);
      return mac.doFinal();
    }

    Worker proven(BridgeHandshake.Purpose purpose) throws IOException {
      byte[] secret = HexFormat.of().parseHex(address.secret());
      assertThat(prove(BridgeHandshake.VERSION, ATTEMPT, purpose.ordinal(), secret)).isZero();
      return this;
    }

    /** Calls without tensors; gives the reply's status and content. */
    ByteBuffer call(int code, int flags, byte[] body) throws IOException {
      byte[] frame = new byte[4 + Request.HEAD_BYTES + body.length];
      ByteBuffer fields = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
      fields.putInt(Request.HEAD_BYTES + body.length).put((byte) code).put((byte) flags);
      fields.position(4 + Request.HEAD_BYTES).put(body);
      socket.getOutputStream().write(frame);
      byte[] reply = in.readNBytes(Integer.reverseBytes(in.readInt()));
      return ByteBuffer.wrap(reply).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.wrap(new byte[bytes]).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static String text(ByteBuffer reply) {
    byte[] bytes = new byte[reply.getInt()];
    reply.get(bytes);
    return new String(bytes, UTF_8);
  }

  @Test
  void aWorkerThatHasTheSecretJoinsAndCalls() throws IOException {
    try (Worker worker = new Worker().proven(BridgeHandshake.Purpose.CALLS)) {
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
    try (Worker wrong = new Worker();
        Worker elsewhere = new Worker();
        Worker newer = new Worker();
        Worker stranger = new Worker()) {
      assertThat(wrong.prove(BridgeHandshake.VERSION, ATTEMPT, 0, other)).isEqualTo(2);
      assertThat(wrong.in.read()).isEqualTo(-1);
      assertThat(elsewhere.prove(BridgeHandshake.VERSION, ATTEMPT + 1, 0, secret)).isEqualTo(2);
      assertThat(newer.prove(BridgeHandshake.VERSION + 1, ATTEMPT, 0, secret)).isEqualTo(1);
      stranger
          .socket
          .getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: localhost:80\r\n\r\n".getBytes(US_ASCII));
      assertThat(stranger.in.read()).isEqualTo(-1);
    }
  }

  @Test
  void whatIsWrongIsToldAndTheConnectionGoesOn() throws IOException {
    try (Worker worker = new Worker().proven(BridgeHandshake.Purpose.CALLS)) {
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
  void aFrameThatIsTooLongEndsTheConnection() throws IOException {
    try (Worker worker = new Worker().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.socket.getOutputStream().write(buffer(4).putInt(Integer.MAX_VALUE).array());
      assertThat(worker.in.read()).isEqualTo(-1);
    }
  }

  @Test
  void theEndOfAnAsynchronousCallIsToldOnce() throws IOException {
    try (Worker worker = new Worker().proven(BridgeHandshake.Purpose.CALLS)) {
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
    try (Worker worker = new Worker().proven(BridgeHandshake.Purpose.CALLS)) {
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
  @EnabledOnOs(OS.LINUX)
  void memoryThatAWorkerMapsGoesWithItsGroup() throws IOException {
    try (Worker worker = new Worker().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      ByteBuffer made = worker.call(CallCode.ALLOCATE, 0, buffer(8).putLong(1000).array());
      assertThat(made.get()).isEqualTo(Reply.DONE);
      made.getInt();
      Path file = Path.of(text(made));
      assertThat(Files.readSymbolicLink(file)).asString().contains("spark-collectives-");
      assertThat(worker.call(CallCode.CLOSE_GROUP, 0, new byte[0]).get()).isEqualTo(Reply.DONE);
      // The number may be another file's by now.
      assertThat(Files.exists(file) ? Files.readSymbolicLink(file).toString() : "")
          .doesNotContain("spark-collectives-");
    }
  }

  @Test
  void aWorkerThatEndsWithoutGoodbyeAbortsItsGroups() throws Exception {
    try (Worker calls = new Worker().proven(BridgeHandshake.Purpose.CALLS)) {
      calls.call(CallCode.JOIN, 0, new byte[0]);
      new Worker().proven(BridgeHandshake.Purpose.LIFE).close();
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
    try (Worker calls = new Worker().proven(BridgeHandshake.Purpose.CALLS);
        Worker life = new Worker().proven(BridgeHandshake.Purpose.LIFE)) {
      calls.call(CallCode.JOIN, 0, new byte[0]);
      life.socket.getOutputStream().write(CallCode.GOODBYE);
      // The bridge closes its end once it has read that.
      assertThat(life.in.read()).isEqualTo(-1);
      // For longer than the bridge waits before it takes the end of a worker for a failure.
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300);
      while (System.nanoTime() < end) {
        assertThat(calls.call(OpType.BARRIER.code(), 0, new byte[0]).get()).isEqualTo(Reply.DONE);
      }
    }
  }

  @Test
  void theEndOfATaskClosesItsConnectionsAndThePort() throws IOException {
    try (Worker worker = new Worker().proven(BridgeHandshake.Purpose.CALLS)) {
      worker.call(CallCode.JOIN, 0, new byte[0]);
      bridge.end(ATTEMPT);
      assertThatThrownBy(() -> worker.call(OpType.BARRIER.code(), 0, new byte[0]))
          .isInstanceOfAny(EOFException.class, java.net.SocketException.class);
    }
    assertThatThrownBy(() -> new Socket(address.host(), address.port()).close())
        .isInstanceOf(ConnectException.class);
  }
}
