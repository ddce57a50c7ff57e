package org.sparkcollectives.gpu.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaException;

/** The streams of all devices of a fake. */
public final class FakeStreams {

  private static final int INVALID_HANDLE = 400;
  private static final int LAUNCH_FAILED = 719;

  private final FakeContexts contexts;
  private final AtomicLong handles = new AtomicLong(0x1000);

  /** The default stream of a device has the handle -1 - device. */
  private final Map<Long, FakeStream> all = new ConcurrentHashMap<>();

  /** Destroyed streams that still have work, which the GPU carries out to the end. */
  private final Set<FakeStream> ending = ConcurrentHashMap.newKeySet();

  /** Failures in streams, after which the real driver would have failed for good. */
  private final List<String> errors = new CopyOnWriteArrayList<>();

  private final AtomicBoolean destructionFails = new AtomicBoolean();
  private final CountDownLatch synchronizing = new CountDownLatch(1);
  private volatile boolean withoutIds;
  private volatile long nextHandle;

  FakeStreams(FakeContexts contexts) {
    this.contexts = contexts;
  }

  /** Gives the next stream the handle of a destroyed one. */
  public void giveNext(long handle) {
    nextHandle = handle;
  }

  /** Makes the driver one that has no stream ids yet. */
  public void removeIds() {
    withoutIds = true;
  }

  /**
   * Makes the next destruction of a stream report an earlier error, although the stream is gone.
   */
  public void failNextDestruction() {
    destructionFails.set(true);
  }

  /** Pauses a stream: later work in it waits until the returned latch is counted down. */
  public CountDownLatch pause(long handle) {
    CountDownLatch latch = new CountDownLatch(1);
    get(handle).enqueue(() -> await(latch));
    return latch;
  }

  /** Blocks until a thread waits for all work of a GPU. */
  public void awaitSynchronizing() {
    await(synchronizing);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the failures in streams. */
  public List<String> errors() {
    return errors;
  }

  FakeStream get(long handle) {
    int device = contexts.device();
    if (handle == Cuda.DEFAULT_STREAM) {
      return all.computeIfAbsent(
          -1L - device, none -> new FakeStream(device, "fake-default-stream-" + device, errors));
    }
    FakeStream stream = all.get(handle);
    if (stream == null) {
      throw new CudaException("a call with stream " + handle, INVALID_HANDLE, "no such stream");
    }
    return stream;
  }

  OptionalLong id(long handle) {
    return withoutIds ? OptionalLong.empty() : OptionalLong.of(get(handle).id());
  }

  long create() {
    int device = contexts.device();
    long handle = nextHandle == 0 ? handles.addAndGet(16) : nextHandle;
    nextHandle = 0;
    all.put(handle, new FakeStream(device, "fake-stream-" + device + "-" + handle, errors));
    return handle;
  }

  void destroy(long handle) {
    FakeStream stream = get(handle);
    ending.add(stream);
    stream.close().whenComplete((none, failure) -> ending.remove(stream));
    all.remove(handle);
    if (destructionFails.getAndSet(false)) {
      throw new CudaException("cuStreamDestroy", LAUNCH_FAILED, "an earlier launch failed");
    }
  }

  /** Blocks until all work of the thread's device is done, also that of destroyed streams. */
  void synchronizeAll() {
    int device = contexts.device();
    List<CompletableFuture<?>> ends = new ArrayList<>();
    Stream.concat(all.values().stream(), ending.stream())
        .filter(each -> each.device() == device)
        .forEach(each -> ends.add(each.whenIdle()));
    synchronizing.countDown();
    ends.forEach(CompletableFuture::join);
  }

  /** Returns the streams that are left, without the default ones. */
  String left() {
    return " stream".repeat((int) all.keySet().stream().filter(each -> each > 0).count());
  }

  /** Ends the threads of all streams. */
  void close() {
    all.values().forEach(FakeStream::close);
  }
}
