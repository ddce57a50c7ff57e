package org.sparkcollectives.spark.internal.python;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.spark.internal.python.BridgeWorker.buffer;
import static org.sparkcollectives.spark.internal.python.BridgeWorker.text;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.store.HashStore;

/** Tests the calls of groups whose members change, as a worker makes them. */
class ReconfigurableGroupCallsTest {

  private static final long ATTEMPT = 77;
  private static final Duration LONG = Duration.ofSeconds(60);

  /** A handle of a member that never comes. */
  private static final String ABSENT = "spark:1:new:1:0123456789abcdef";

  @TempDir Path folder;

  private final PythonBridge bridge = new PythonBridge(() -> folder);
  private final HashStore store = new HashStore();
  private ProcessGroup world;
  private PythonBridge.Address address;

  @BeforeEach
  void taskBegins() throws IOException {
    world = ProcessGroups.create(store, 0, 1, GroupOptions.defaults().withName("python"));
    address = bridge.begin(new StubTask(ATTEMPT, world, List.of()));
  }

  @AfterEach
  void taskEnds() throws InterruptedException {
    world.close();
    bridge.end(ATTEMPT);
    store.close();
    StubTask.awaitEndOfThreads(LONG);
  }

  private BridgeWorker connect(BridgeHandshake.Purpose purpose) throws IOException {
    return new BridgeWorker(address, ATTEMPT).proven(purpose);
  }

  private static ByteBuffer done(ByteBuffer reply) {
    assertThat(reply.get()).isEqualTo(Reply.DONE);
    return reply;
  }

  private static String failed(ByteBuffer reply, String kind) {
    assertThat(reply.get()).isEqualTo(Reply.FAILED);
    assertThat(text(reply)).isEqualTo(kind);
    return text(reply);
  }

  /** A group as the bridge describes it to a worker. */
  private record Described(
      int id, int rank, int size, String name, int globalRanks, String handle) {

    static Described of(ByteBuffer reply) {
      int id = reply.getInt();
      int rank = reply.getInt();
      int size = reply.getInt();
      reply.getLong();
      return new Described(id, rank, size, text(reply), reply.getInt(), text(reply));
    }
  }

  private static Described make(BridgeWorker worker) throws IOException {
    return Described.of(done(worker.call(CallCode.RECONFIGURABLE, 0, new byte[0])));
  }

  private static byte[] change(long uuid, String... handles) {
    int length = 12;
    for (String each : handles) {
      length += 4 + each.length();
    }
    byte[] body = new byte[length];
    ByteBuffer fields = ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN);
    fields.putLong(uuid).putInt(handles.length);
    for (String each : handles) {
      fields.putInt(each.length()).put(each.getBytes(UTF_8));
    }
    return body;
  }

  private static int allocate(BridgeWorker worker, int group) throws IOException {
    byte[] size = buffer(8).putLong(64).array();
    return done(worker.call(CallCode.ALLOCATE, 2, group, size)).getInt();
  }

  private static ByteBuffer read(BridgeWorker worker, int segment) throws IOException {
    return worker.call(CallCode.READ, 0, buffer(16).putInt(segment).putLong(0).putInt(4).array());
  }

  @Test
  void aChangeTellsTheNewRankAndSizeAndAnotherHandle() throws IOException {
    try (BridgeWorker worker = connect(BridgeHandshake.Purpose.CALLS)) {
      Described group = make(worker);
      assertThat(group.name()).isEqualTo("changing-1");
      assertThat(new int[] {group.rank(), group.size(), group.globalRanks()})
          .containsExactly(0, 1, 0);
      String early =
          failed(worker.call(OpType.BARRIER.code(), 0, group.id(), new byte[0]), "state");
      assertThat(early).contains("call reconfigure()");

      byte[] first = change(1, group.handle());
      ByteBuffer changed = done(worker.call(CallCode.RECONFIGURE, 0, group.id(), first));
      assertThat(new int[] {changed.getInt(), changed.getInt()}).containsExactly(0, 1);
      String handle = text(changed);
      assertThat(handle).isNotEqualTo(group.handle());
      done(worker.call(OpType.BARRIER.code(), 0, group.id(), new byte[0]));

      byte[] outdated = change(2, group.handle());
      ByteBuffer refused = worker.call(CallCode.RECONFIGURE, 0, group.id(), outdated);
      assertThat(failed(refused, "argument")).contains("not part of the new communicator");
      byte[] inNoOrder = change(2, handle);
      done(worker.call(CallCode.RECONFIGURE, 2, group.id(), inNoOrder));
    }
  }

  @Test
  void memoryEndsWithTheMembersAndStaysAfterAChangeThatFails() throws IOException {
    try (BridgeWorker worker = connect(BridgeHandshake.Purpose.CALLS)) {
      Described group = make(worker);
      byte[] first = change(1, group.handle());
      ByteBuffer changed = done(worker.call(CallCode.RECONFIGURE, 0, group.id(), first));
      changed.getLong();
      String handle = text(changed);
      int segment = allocate(worker, group.id());

      byte[] used = change(1, handle);
      failed(worker.call(CallCode.RECONFIGURE, 0, group.id(), used), "argument");
      done(read(worker, segment));

      byte[] second = change(2, handle);
      done(worker.call(CallCode.RECONFIGURE, 0, group.id(), second));
      assertThat(failed(read(worker, segment), "argument")).contains("no segment " + segment);
      done(read(worker, allocate(worker, group.id())));
    }
  }

  @Test
  void aWorkerThatEndsWithoutGoodbyeEndsTheChangeThatItWaitsIn() throws IOException {
    try (BridgeWorker worker = connect(BridgeHandshake.Purpose.CALLS)) {
      Described group = make(worker);
      worker.post(CallCode.RECONFIGURE, 0, group.id(), change(1, group.handle(), ABSENT));
      connect(BridgeHandshake.Purpose.LIFE).close();
      assertThat(failed(worker.take(), "aborted"))
          .contains("the Python worker of rank 0 (process 1) ended");
    }
  }

  @Test
  void whoLeavesTheWorldLeavesThemToo() throws IOException {
    try (BridgeWorker worker = connect(BridgeHandshake.Purpose.CALLS)) {
      int joined = done(worker.call(CallCode.JOIN, 0, new byte[0])).getInt();
      Described group = make(worker);
      done(worker.call(CallCode.CLOSE_GROUP, 0, joined, new byte[0]));
      byte[] first = change(1, group.handle());
      ByteBuffer refused = worker.call(CallCode.RECONFIGURE, 0, group.id(), first);
      assertThat(failed(refused, "state")).contains("is closed");
      assertThat(make(worker).name()).isEqualTo("changing-2");
    }
  }

  @Test
  void theMembersOfOtherGroupsStay() throws IOException {
    try (BridgeWorker worker = connect(BridgeHandshake.Purpose.CALLS)) {
      int joined = done(worker.call(CallCode.JOIN, 0, new byte[0])).getInt();
      ByteBuffer refused = worker.call(CallCode.RECONFIGURE, 0, joined, change(1, ABSENT));
      assertThat(failed(refused, "argument")).contains("cannot be changed");
    }
  }
}
