package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.cuda.HostMemory;

/**
 * A CUDA driver without GPUs: memory is host memory behind addresses of its own, each stream a
 * thread that does in order what is put into it.
 *
 * <p>It refuses what the driver refuses: a call on a thread without context, an address that was
 * not allocated, an event that does not exist; and counts what is not let go of.
 */
public final class FakeCuda implements Cuda {

  private static final int INVALID_VALUE = 1;
  private static final int INVALID_CONTEXT = 201;
  private static final int INVALID_HANDLE = 400;
  private static final int ILLEGAL_ADDRESS = 700;

  private final int devices;
  private final AtomicLong handles = new AtomicLong(0x1000);

  @SuppressWarnings("ThreadLocalUsage") // Of this driver.
  private final ThreadLocal<Long> current = ThreadLocal.withInitial(() -> 0L);

  private final TreeMap<Long, Piece> memory = new TreeMap<>();
  private final Map<Long, Stream> streams = new ConcurrentHashMap<>();
  private final Map<Long, Event> events = new ConcurrentHashMap<>();
  private final Map<Long, HostMemory> hostMemory = new ConcurrentHashMap<>();
  private final Map<Integer, AtomicLong> contexts = new ConcurrentHashMap<>();
  private final Queue<Long> eventQueries = new ConcurrentLinkedQueue<>();
  private volatile int eventError;
  private long nextAddress;

  /** With so many GPUs. */
  public FakeCuda(int devices) {
    this.devices = devices;
  }

  private record Piece(int device, ByteBuffer bytes, long id) {}

  private static final class Event {
    private volatile CompletableFuture<Long> happened = CompletableFuture.completedFuture(0L);
  }

  /** What went wrong in streams, where the driver would have failed for good. */
  private final List<String> errors = new CopyOnWriteArrayList<>();

  private final class Stream implements AutoCloseable {
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile boolean closed;

    Stream(String name) {
      Thread thread = new Thread(this::run, name);
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      try {
        while (!closed || !tasks.isEmpty()) {
          Runnable task = tasks.take();
          gate.await();
          try {
            task.run();
          } catch (RuntimeException | AssertionError e) {
            errors.add(e.toString());
          }
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public void close() {
      tasks.add(() -> closed = true);
    }
  }

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

  private Stream stream(long handle) {
    int device = device();
    if (handle == DEFAULT_STREAM) {
      return streams.computeIfAbsent(
          -1L - device, none -> new Stream("fake-default-stream-" + device));
    }
    Stream stream = streams.get(handle);
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
    stream(stream).tasks.add(task);
  }

  /** The bytes of a device's memory. */
  public ByteBuffer bytes(long address, long length) {
    synchronized (memory) {
      Map.Entry<Long, Piece> entry = memory.floorEntry(address);
      long offset = entry == null ? -1 : address - entry.getKey();
      if (entry == null || offset + length > entry.getValue().bytes().capacity()) {
        throw new CudaException(
            "access to " + length + " bytes at 0x" + Long.toHexString(address),
            ILLEGAL_ADDRESS,
            "an illegal memory access was encountered");
      }
      return entry
          .getValue()
          .bytes()
          .slice((int) offset, (int) length)
          .order(ByteOrder.nativeOrder());
    }
  }

  /** The next allocation is where one was that has been freed. */
  public void allocateNextAt(long address) {
    synchronized (memory) {
      nextAddress = address;
    }
  }

  /** From now on queries of events answer with this error; 0 for none. */
  public void failEvents(int code) {
    eventError = code;
  }

  /** The events of which it was asked whether they have happened, in order. */
  public Queue<Long> eventQueries() {
    return eventQueries;
  }

  /** What is put into a stream from now on waits until the returned latch is counted down. */
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

  /** What went wrong in streams. */
  public List<String> errors() {
    return errors;
  }

  /** Ends the threads of the default streams. */
  public void close() {
    streams.values().forEach(Stream::close);
  }

  /** What has not been let go of: nothing once all is closed. */
  public String leaks() {
    StringBuilder text = new StringBuilder();
    synchronized (memory) {
      memory.forEach((address, piece) -> text.append(" memory of ").append(piece.bytes.capacity()));
    }
    hostMemory.forEach((address, piece) -> text.append(" host memory"));
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
  public int[] streamPriorities() {
    device();
    return new int[] {0, -5};
  }

  @Override
  public long createStream(int priority) {
    int device = device();
    long handle = handles.addAndGet(16);
    streams.put(handle, new Stream("fake-stream-" + device + "-" + handle));
    return handle;
  }

  @Override
  public void destroyStream(long stream) {
    stream(stream).close();
    streams.remove(stream);
  }

  @Override
  public void synchronizeStream(long stream) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    enqueue(stream, () -> done.complete(null));
    done.join();
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
  public float elapsedMillis(long start, long end) {
    return (event(end).happened.join() - event(start).happened.join()) / 1e6f;
  }

  @Override
  public long allocate(long bytes) {
    return allocateOn(device(), bytes);
  }

  private long allocateOn(int device, long bytes) {
    if (bytes <= 0 || bytes > Integer.MAX_VALUE) {
      throw new CudaException("cuMemAlloc of " + bytes + " bytes", INVALID_VALUE, "invalid");
    }
    synchronized (memory) {
      // A gap, so that what runs over is noticed.
      long fresh = (handles.getAndAdd((bytes / 512 + 2) * 512) + 511) & ~511L;
      long address = nextAddress == 0 ? fresh : nextAddress;
      nextAddress = 0;
      memory.put(address, new Piece(device, ByteBuffer.allocate((int) bytes), fresh));
      return address;
    }
  }

  @Override
  public void free(long address) {
    device();
    synchronized (memory) {
      if (memory.remove(address) == null) {
        throw new CudaException("cuMemFree", INVALID_VALUE, "not allocated");
      }
    }
  }

  @Override
  public HostMemory allocateHost(int bytes) {
    device();
    long address = allocateOn(-1, bytes);
    HostMemory made = new HostMemory(address, bytes(address, bytes));
    hostMemory.put(address, made);
    return made;
  }

  @Override
  public void freeHost(HostMemory piece) {
    hostMemory.remove(piece.address());
    free(piece.address());
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
    synchronized (memory) {
      bytes(address, 1);
      return memory.floorEntry(address).getValue().device();
    }
  }

  @Override
  public long allocationId(long address) {
    device();
    synchronized (memory) {
      bytes(address, 1);
      return memory.floorEntry(address).getValue().id();
    }
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
