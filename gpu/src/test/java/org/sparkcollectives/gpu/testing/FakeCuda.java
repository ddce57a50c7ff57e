package org.sparkcollectives.gpu.testing;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.cuda.HostMemory;
import org.sparkcollectives.gpu.cuda.MemoryInfo;
import org.sparkcollectives.testing.Eventually;

/**
 * A CUDA driver without GPUs: memory is host memory behind addresses of its own, and each stream is
 * a thread that carries out its tasks in order.
 *
 * <p>It refuses what the driver refuses: a call on a thread without a context, an address that was
 * not allocated, an event that does not exist. It counts the resources that are not released.
 */
public final class FakeCuda implements Cuda {

  private static final int INVALID_VALUE = 1;
  private static final int INVALID_CONTEXT = 201;
  private static final int INVALID_HANDLE = 400;
  private static final int LAUNCH_FAILED = 719;

  private final int devices;
  private final AtomicLong handles = new AtomicLong(0x1000);

  @SuppressWarnings("ThreadLocalUsage") // Belongs to this driver.
  private final ThreadLocal<Long> current = ThreadLocal.withInitial(() -> 0L);

  private final FakeMemory memory = new FakeMemory();
  private final Map<Long, FakeStream> streams = new ConcurrentHashMap<>();
  private final Map<Long, Event> events = new ConcurrentHashMap<>();
  private final Set<Long> hostMemory = ConcurrentHashMap.newKeySet();
  private final Map<Integer, AtomicLong> contexts = new ConcurrentHashMap<>();
  private final Queue<Long> eventQueries = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean streamEndFails = new AtomicBoolean();
  private final CountDownLatch synchronizing = new CountDownLatch(1);
  private volatile int eventError;
  private volatile boolean oldDriver;
  private volatile long nextStream;

  /** Creates a driver with so many GPUs. */
  public FakeCuda(int devices) {
    this.devices = devices;
  }

  private static final class Event {
    private volatile CompletableFuture<Long> happened = CompletableFuture.completedFuture(0L);
  }

  /** Failures in streams, after which the real driver would have failed for good. */
  private final List<String> errors = new CopyOnWriteArrayList<>();

  private int device() {
    long context = current.get();
    if (context == 0) {
      throw new CudaException(
          "a call on thread " + Thread.currentThread().getName(),
          INVALID_CONTEXT,
          "no context is current on this thread");
    }
    return (int) context - 1;
  }

  private FakeStream stream(long handle) {
    int device = device();
    if (handle == DEFAULT_STREAM) {
      return streams.computeIfAbsent(
          -1L - device, none -> new FakeStream(device, "fake-default-stream-" + device, errors));
    }
    FakeStream stream = streams.get(handle);
    if (stream == null) {
      throw new CudaException("a call with stream " + handle, INVALID_HANDLE, "no such stream");
    }
    return stream;
  }

  private Event event(long handle) {
    device();
    Event event = events.get(handle);
    if (event == null) {
      throw new CudaException("a call with event " + handle, INVALID_HANDLE, "no such event");
    }
    return event;
  }

  /** Puts anything into a stream. */
  public void enqueue(long stream, Runnable task) {
    stream(stream).enqueue(task);
  }

  /** Returns the bytes of a device's memory. */
  public ByteBuffer bytes(long address, long length) {
    return memory.bytes(address, length);
  }

  /** Places the next allocation at the address of one that was freed. */
  public void allocateNextAt(long address) {
    memory.allocateNextAt(address);
  }

  /** Limits the memory of each device to so many bytes. */
  public void limitMemory(long bytes) {
    memory.limit(bytes);
  }

  /** Gives the next stream the handle of a destroyed one. */
  public void giveNextStream(long handle) {
    nextStream = handle;
  }

  /** Makes the driver one that has no stream ids yet. */
  public void beOld() {
    oldDriver = true;
  }

  /** Makes all later queries of events return this error; 0 for none. */
  public void failEvents(int code) {
    eventError = code;
  }

  /**
   * Makes the next destruction of a stream report an earlier error, although the stream is gone.
   */
  public void failNextStreamEnd() {
    streamEndFails.set(true);
  }

  /** Returns the events that were queried, in order. */
  public Queue<Long> eventQueries() {
    return eventQueries;
  }

  /** Pauses a stream: later work in it waits until the returned latch is counted down. */
  public CountDownLatch pause(long stream) {
    CountDownLatch gate = new CountDownLatch(1);
    enqueue(stream, () -> await(gate));
    return gate;
  }

  private static void await(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the failures in streams. */
  public List<String> errors() {
    return errors;
  }

  /** Ends the threads of the default streams. */
  public void close() {
    streams.values().forEach(FakeStream::close);
  }

  /**
   * Waits until all resources are released: a tensor that is freed last leaves that to a thread.
   */
  public void awaitNothingLeft() {
    Eventually.holds(() -> leaks().isEmpty(), Eventually.LIMIT, () -> "left:" + leaks());
  }

  /**
   * Waits until all resources are released, after a test that left tensors to the garbage
   * collector.
   */
  public void awaitNothingLeftAfterCollection() {
    Eventually.holdsAfterCollection(() -> leaks().isEmpty(), () -> "left:" + leaks());
  }

  /** Returns the resources that were not released: none once all are closed. */
  public String leaks() {
    StringBuilder text = new StringBuilder(memory.left());
    hostMemory.forEach(address -> text.append(" host memory"));
    streams.keySet().stream().filter(each -> each > 0).forEach(each -> text.append(" stream"));
    events.keySet().forEach(each -> text.append(" event"));
    contexts.forEach(
        (device, count) -> {
          if (count.get() != 0) {
            text.append(" context of ").append(device);
          }
        });
    return text.toString();
  }

  @Override
  public int driverVersion() {
    return 12060;
  }

  @Override
  public int deviceCount() {
    return devices;
  }

  @Override
  public String deviceName(int ordinal) {
    return "Fake GPU";
  }

  @Override
  public byte[] deviceUuid(int ordinal) {
    byte[] uuid = new byte[16];
    uuid[15] = (byte) ordinal;
    return uuid;
  }

  @Override
  public String devicePciBusId(int ordinal) {
    return "0000:0" + ordinal + ":00.0";
  }

  @Override
  public long retainPrimaryContext(int ordinal) {
    contexts.computeIfAbsent(ordinal, none -> new AtomicLong()).incrementAndGet();
    return ordinal + 1L;
  }

  @Override
  public void releasePrimaryContext(int ordinal) {
    contexts.get(ordinal).decrementAndGet();
  }

  @Override
  public long currentContext() {
    return current.get();
  }

  @Override
  public void setCurrentContext(long context) {
    if (context != 0 && contexts.get((int) context - 1).get() <= 0) {
      throw new CudaException("cuCtxSetCurrent", INVALID_CONTEXT, "the context is gone");
    }
    current.set(context);
  }

  @Override
  public void synchronizeContext() {
    int device = device();
    List<CompletableFuture<?>> ends = new ArrayList<>();
    for (FakeStream each : streams.values()) {
      if (each.device() == device) {
        ends.add(each.whenIdle());
      }
    }
    synchronizing.countDown();
    ends.forEach(CompletableFuture::join);
  }

  /** Blocks until a thread waits for all work of a GPU. */
  public void awaitSynchronizing() {
    await(synchronizing);
  }

  @Override
  public OptionalLong streamId(long stream) {
    return oldDriver ? OptionalLong.empty() : OptionalLong.of(stream(stream).id());
  }

  @Override
  public int[] streamPriorities() {
    device();
    return new int[] {0, -5};
  }

  @Override
  public long createStream(int priority) {
    int device = device();
    long handle = nextStream == 0 ? handles.addAndGet(16) : nextStream;
    nextStream = 0;
    streams.put(handle, new FakeStream(device, "fake-stream-" + device + "-" + handle, errors));
    return handle;
  }

  @Override
  public void destroyStream(long stream) {
    stream(stream).close();
    streams.remove(stream);
    if (streamEndFails.getAndSet(false)) {
      throw new CudaException("cuStreamDestroy", LAUNCH_FAILED, "an earlier launch failed");
    }
  }

  @Override
  public void synchronizeStream(long stream) {
    stream(stream).whenIdle().join();
  }

  @Override
  public boolean isCapturing(long stream) {
    stream(stream);
    return false;
  }

  @Override
  public void streamWaitEvent(long stream, long event) {
    CompletableFuture<Long> happened = event(event).happened;
    enqueue(stream, happened::join);
  }

  @Override
  public long createEvent(boolean timed) {
    device();
    long handle = handles.addAndGet(16);
    events.put(handle, new Event());
    return handle;
  }

  @Override
  public void destroyEvent(long event) {
    event(event);
    events.remove(event);
  }

  @Override
  public void recordEvent(long event, long stream) {
    CompletableFuture<Long> happened = new CompletableFuture<>();
    event(event).happened = happened;
    enqueue(stream, () -> happened.complete(System.nanoTime()));
  }

  @Override
  public boolean hasHappened(long event) {
    eventQueries.add(event);
    if (eventError != 0) {
      throw new CudaException("cuEventQuery", eventError, "injected");
    }
    return event(event).happened.isDone();
  }

  @Override
  public void synchronizeEvent(long event) {
    event(event).happened.join();
  }

  @Override
  public float elapsedMillis(long start, long end) {
    return (event(end).happened.join() - event(start).happened.join()) / 1e6f;
  }

  @Override
  public long allocate(long bytes) {
    return memory.allocate(device(), bytes);
  }

  /** Waits before it frees, as the driver may. */
  @Override
  public void free(long address) {
    synchronizeContext();
    memory.free(address);
  }

  /** Frees memory of an allocator that maps it itself, without waiting. */
  public void unmap(long address) {
    device();
    memory.free(address);
  }

  @Override
  public MemoryInfo memoryInfo() {
    return memory.info(device());
  }

  @Override
  public HostMemory allocateHost(int bytes) {
    device();
    long address = memory.allocate(FakeMemory.HOST, bytes);
    hostMemory.add(address);
    // The buffer must not be a view of one that is kept here: it must become unreachable.
    Pointer pinned = Native.getDirectBufferPointer(bytes(address, bytes));
    return new HostMemory(address, pinned.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder()));
  }

  @Override
  public void freeHost(HostMemory piece) {
    device();
    hostMemory.remove(piece.address());
    memory.free(piece.address());
  }

  @Override
  public void copyToDevice(long destination, long hostSource, long bytes, long stream) {
    copyOnDevice(destination, hostSource, bytes, stream);
  }

  @Override
  public void copyToHost(long hostDestination, long source, long bytes, long stream) {
    copyOnDevice(hostDestination, source, bytes, stream);
  }

  @Override
  public void copyOnDevice(long destination, long source, long bytes, long stream) {
    ByteBuffer from = bytes(source, bytes);
    ByteBuffer to = bytes(destination, bytes);
    enqueue(stream, () -> to.duplicate().put(from.duplicate()));
  }

  @Override
  public void fill(long destination, byte value, long bytes, long stream) {
    ByteBuffer to = bytes(destination, bytes);
    enqueue(
        stream,
        () -> {
          for (int i = 0; i < to.capacity(); i++) {
            to.put(i, value);
          }
        });
  }

  @Override
  public int deviceOf(long address) {
    device();
    return memory.deviceOf(address);
  }

  @Override
  public long allocationId(long address) {
    device();
    return memory.id(address);
  }

  @Override
  public long loadModule(byte[] ptx) {
    throw new CudaException("cuModuleLoadDataEx", INVALID_VALUE, "a fake runs no kernels");
  }

  @Override
  public void unloadModule(long module) {
    throw new CudaException("cuModuleUnload", INVALID_HANDLE, "a fake has no modules");
  }

  @Override
  public long function(long module, String name) {
    throw new CudaException("cuModuleGetFunction", INVALID_HANDLE, "a fake has no modules");
  }

  @Override
  public void launch(
      long function, int blocks, int threads, int sharedBytes, long stream, long... arguments) {
    throw new CudaException("cuLaunchKernel", INVALID_HANDLE, "a fake has no modules");
  }
}
