package org.sparkcollectives.spark.internal.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.spark.internal.python.BridgeWorker.buffer;
import static org.sparkcollectives.spark.internal.python.BridgeWorker.text;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * Tests the resources of a task's bridge, and how long it keeps them, with groups that the test
 * controls.
 */
class TaskBridgeTest {

  private static final long ATTEMPT = 12;

  @TempDir Path folder;

  private final PythonBridge bridge = new PythonBridge(() -> folder);
  private final List<Memory> memories = new ArrayList<>();
  private final List<WeakReference<ProcessGroup>> groups = new ArrayList<>();
  private final List<WeakReference<Work>> works = new ArrayList<>();
  private final CountDownLatch checkpointRuns = new CountDownLatch(1);
  private final CountDownLatch checkpointMayEnd = new CountDownLatch(1);
  private final CountDownLatch sentIsAwaited = new CountDownLatch(1);
  private final CompletableFuture<List<Tensor>> sent = new End<>(sentIsAwaited);
  private PythonBridge.Address address;

  /** The end of the messages, which tells when somebody waits for it. */
  private static final class End<T> extends CompletableFuture<T> {

    private final CountDownLatch awaited;

    private End(CountDownLatch awaited) {
      this.awaited = awaited;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      return new End<>(awaited);
    }

    @Override
    public T get(long timeout, TimeUnit unit)
        throws InterruptedException, ExecutionException, TimeoutException {
      awaited.countDown();
      return super.get(timeout, unit);
    }
  }

  /** Memory that cannot be mapped, and records whether it was unmapped. */
  private static final class Memory implements SharedMemory {

    private final CountDownLatch unmapped = new CountDownLatch(1);
    private volatile boolean scratch;

    @Override
    public SharedMemory asScratch() {
      scratch = true;
      return this;
    }

    boolean isScratch() {
      return scratch;
    }

    @Override
    public long bytes() {
      return 64;
    }

    @Override
    public String path() {
      return "/proc/self/fd/none";
    }

    @Override
    public byte[] nonce() {
      return new byte[16];
    }

    @Override
    public long begin() {
      return 64;
    }

    @Override
    public Tensor tensor(DType dtype, long offset, long count) {
      return Tensor.of(new float[(int) count]);
    }

    @Override
    public void close() {
      unmapped.countDown();
    }

    boolean isMapped() {
      return unmapped.getCount() > 0;
    }

    void awaitUnmapped() throws InterruptedException {
      assertThat(unmapped.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  private ProcessGroup group() {
    ProcessGroup made =
        (ProcessGroup)
            Proxy.newProxyInstance(
                ProcessGroup.class.getClassLoader(),
                new Class<?>[] {ProcessGroup.class},
                (self, method, arguments) ->
                    switch (method.getName()) {
                      case "equals" -> self == arguments[0];
                      case "hashCode" -> System.identityHashCode(self);
                      case "toString", "name" -> "group";
                      case "rank" -> 0;
                      case "size" -> 1;
                      case "timeout" -> Duration.ofSeconds(60);
                      case "globalRanks" -> new int[] {0};
                      case "allocateShared" -> allocated();
                      case "newGroup" -> group();
                      case "checkpoint" -> checkpoint();
                      case "send" -> send();
                      case "close" -> null;
                      default -> throw new UnsupportedOperationException(method.getName());
                    });
    groups.add(new WeakReference<>(made));
    return made;
  }

  private Work send() {
    Work work = Work.of(OpType.SEND, 0, sent);
    works.add(new WeakReference<>(work));
    return work;
  }

  private Object checkpoint() throws InterruptedException {
    checkpointRuns.countDown();
    assertThat(checkpointMayEnd.await(60, TimeUnit.SECONDS)).isTrue();
    return null;
  }

  private SharedMemory allocated() {
    Memory memory = new Memory();
    memories.add(memory);
    return memory;
  }

  @BeforeEach
  void taskBegins() throws IOException {
    address = bridge.begin(new StubTask(ATTEMPT, group(), List.of()));
  }

  @AfterEach
  void taskEnds() {
    checkpointMayEnd.countDown();
    bridge.end(ATTEMPT);
  }

  private BridgeWorker connect() throws IOException {
    return new BridgeWorker(address, ATTEMPT).proven(BridgeHandshake.Purpose.CALLS);
  }

  private static ByteBuffer done(ByteBuffer reply) {
    assertThat(reply.get()).isEqualTo(Reply.DONE);
    return reply;
  }

  private static int allocate(BridgeWorker worker, int group) throws IOException {
    byte[] size = buffer(8).putLong(64).array();
    return done(worker.call(CallCode.ALLOCATE, 0, group, size)).getInt();
  }

  private static int newGroup(BridgeWorker worker) throws IOException {
    byte[] noDescriptionAllRanks = new byte[8];
    return done(worker.call(CallCode.NEW_GROUP, 0, 0, noDescriptionAllRanks)).getInt();
  }

  private static void close(BridgeWorker worker, int group) throws IOException {
    done(worker.call(CallCode.CLOSE_GROUP, 0, group, new byte[0]));
  }

  @Test
  void aWorkerThatHasClosedItsWorldGroupJoinsAnother() throws Exception {
    try (BridgeWorker worker = connect()) {
      int first = done(worker.call(CallCode.JOIN, 0, new byte[0])).getInt();
      assertThat(done(worker.call(CallCode.JOIN, 0, new byte[0])).getInt()).isEqualTo(first);
      close(worker, first);

      int second = done(worker.call(CallCode.JOIN, 0, new byte[0])).getInt();
      assertThat(second).isNotEqualTo(first);
      byte[] noDescriptionAllRanks = new byte[8];
      done(worker.call(CallCode.NEW_GROUP, 0, second, noDescriptionAllRanks));
      ByteBuffer refused = worker.call(CallCode.NEW_GROUP, 0, first, noDescriptionAllRanks);
      assertThat(refused.get()).isEqualTo(Reply.FAILED);
    }
  }

  @Test
  void memoryThatACheckpointReadsOutlivesItsGroup() throws Exception {
    try (BridgeWorker reader = connect();
        BridgeWorker closer = connect()) {
      done(reader.call(CallCode.JOIN, 0, new byte[0]));
      int segment = allocate(reader, 0);
      byte[] name = buffer(5).putInt(1).put((byte) 'a').array();
      reader.post(CallCode.CHECKPOINT, 0, 0, name, segment, 16);
      assertThat(checkpointRuns.await(60, TimeUnit.SECONDS)).isTrue();

      close(closer, 0);
      assertThat(memories.get(0).isMapped()).isTrue();

      checkpointMayEnd.countDown();
      done(reader.take());
      memories.get(0).awaitUnmapped();
    }
  }

  @Test
  void memoryOfAnOperationUnderWayOutlivesItsGroup() throws Exception {
    try (BridgeWorker worker = connect()) {
      done(worker.call(CallCode.JOIN, 0, new byte[0]));
      int segment = allocate(worker, 0);
      worker.post(OpType.SEND.code(), 1, 0, new byte[0], segment, 16);
      done(worker.take());

      close(worker, 0);
      assertThat(memories.get(0).isMapped()).isTrue();

      sent.complete(List.of());
      memories.get(0).awaitUnmapped();
    }
  }

  @Test
  void memoryOfAnOperationThatFailedIsLeftToTheGarbageCollector() throws Exception {
    try (BridgeWorker worker = connect()) {
      done(worker.call(CallCode.JOIN, 0, new byte[0]));
      int segment = allocate(worker, 0);
      allocate(worker, 0);
      worker.post(OpType.SEND.code(), 1, 0, new byte[0], segment, 16);
      done(worker.take());
      sent.completeExceptionally(new IllegalStateException("broken"));

      close(worker, 0);
      memories.get(1).awaitUnmapped();
      assertThat(memories.get(0).isMapped()).isTrue();
    }
  }

  /** Waits until the garbage collector has found that nobody refers to the object. */
  private static void awaitCollected(WeakReference<?> reference) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (reference.get() != null && System.nanoTime() < deadline) {
      System.gc();
    }
    assertThat(reference.get()).isNull();
  }

  private static long beginToSend(BridgeWorker worker, int group, int segment) throws IOException {
    worker.post(OpType.SEND.code(), 1, group, new byte[0], segment, 16);
    return done(worker.take()).getLong();
  }

  private static ByteBuffer endOf(BridgeWorker worker, long work) throws IOException {
    return worker.call(CallCode.TEST_WORK, 0, buffer(8).putLong(work).array());
  }

  private static byte look(BridgeWorker worker, long work) throws IOException {
    return worker.call(CallCode.TEST_WORK, 2, buffer(8).putLong(work).array()).get();
  }

  @Test
  void whoLooksWhetherAWorkHasEndedLeavesItsEndToOthers() throws Exception {
    try (BridgeWorker worker = connect()) {
      done(worker.call(CallCode.JOIN, 0, new byte[0]));
      long work = beginToSend(worker, 0, allocate(worker, 0));
      assertThat(look(worker, work)).isEqualTo(Reply.PENDING);
      sent.complete(List.of());
      assertThat(look(worker, work)).isEqualTo(Reply.DONE);
      done(endOf(worker, work));
      assertThat(look(worker, work)).isEqualTo(Reply.DONE);
    }
  }

  @Test
  void aWorkThatSomebodyWaitsForHasNotEndedForOthers() throws Exception {
    try (BridgeWorker waiter = connect();
        BridgeWorker other = connect()) {
      done(waiter.call(CallCode.JOIN, 0, new byte[0]));
      long work = beginToSend(waiter, 0, allocate(waiter, 0));
      byte[] id = buffer(8).putLong(work).array();
      waiter.post(CallCode.AWAIT_WORK, 0, 0, id);
      assertThat(sentIsAwaited.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(look(other, work)).isEqualTo(Reply.PENDING);
      sent.complete(List.of());
      done(waiter.take());
      assertThat(look(other, work)).isEqualTo(Reply.DONE);
      assertThat(endOf(other, work).get()).isEqualTo(Reply.FAILED);
    }
  }

  @Test
  void aWorkOfAGroupThatIsClosedIsForgottenButForItsEnd() throws Exception {
    try (BridgeWorker worker = connect()) {
      done(worker.call(CallCode.JOIN, 0, new byte[0]));
      int group = newGroup(worker);
      long work = beginToSend(worker, group, allocate(worker, group));
      long ofWorld = beginToSend(worker, 0, allocate(worker, 0));
      close(worker, group);
      assertThat(endOf(worker, work).get()).isEqualTo(Reply.PENDING);

      sent.complete(List.of());
      awaitCollected(works.get(0));
      assertThat(works.get(1).get()).isNotNull();
      done(endOf(worker, work));
      assertThat(endOf(worker, work).get()).isEqualTo(Reply.FAILED);

      close(worker, 0);
      awaitCollected(works.get(1));
      done(endOf(worker, ofWorld));
    }
  }

  @Test
  void whyAWorkOfAGroupThatIsClosedHasFailedIsStillTold() throws Exception {
    try (BridgeWorker worker = connect()) {
      done(worker.call(CallCode.JOIN, 0, new byte[0]));
      int group = newGroup(worker);
      long work = beginToSend(worker, group, allocate(worker, group));
      sent.completeExceptionally(new CollectiveException("the network is gone"));
      close(worker, group);
      awaitCollected(works.get(0));
      ByteBuffer failed = endOf(worker, work);
      assertThat(failed.get()).isEqualTo(Reply.FAILED);
      text(failed);
      assertThat(text(failed)).contains("the network is gone");
    }
  }

  @Test
  void onlyWhatAWorkerAllocatesAsScratchMemoryMayBeWrittenToByOthers() throws Exception {
    try (BridgeWorker worker = connect()) {
      done(worker.call(CallCode.JOIN, 0, new byte[0]));
      int group = newGroup(worker);
      byte[] size = buffer(8).putLong(64).array();
      done(worker.call(CallCode.ALLOCATE, 0, group, size));
      done(worker.call(CallCode.ALLOCATE, 4, group, size));
      assertThat(memories.get(0).isScratch()).isFalse();
      assertThat(memories.get(1).isScratch()).isTrue();
    }
  }

  @Test
  void aGroupThatIsClosedIsForgotten() throws Exception {
    try (BridgeWorker worker = connect()) {
      done(worker.call(CallCode.JOIN, 0, new byte[0]));
      int group = newGroup(worker);
      allocate(worker, group);
      byte[] size = buffer(8).putLong(64).array();
      done(worker.call(CallCode.ALLOCATE_FOR_RANKS, 0, group, size));
      int other = newGroup(worker);
      close(worker, group);
      memories.get(0).awaitUnmapped();
      memories.get(1).awaitUnmapped();

      awaitCollected(groups.get(1));
      assertThat(groups.get(2).get()).isNotNull();

      close(worker, group);
      ByteBuffer refused = worker.call(CallCode.ALLOCATE, 0, group, size);
      assertThat(refused.get()).isEqualTo(Reply.FAILED);
      assertThat(text(refused)).isEqualTo("state");
      assertThat(text(refused)).isEqualTo("Group " + group + " of this task is closed");
      allocate(worker, other);
    }
  }
}
