package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
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

  private static final int NOT_SUPPORTED = 801;

  private final int devices;
  private final FakeContexts contexts = new FakeContexts();
  private final FakeStreams streams = new FakeStreams(contexts);
  private final FakeEvents events = new FakeEvents(contexts);
  private final FakeMemory memory = new FakeMemory();
  private final AtomicInteger measurements = new AtomicInteger();

  /** Creates a driver with so many GPUs. */
  public FakeCuda(int devices) {
    this.devices = devices;
  }

  /** Returns the streams. */
  public FakeStreams streams() {
    return streams;
  }

  /** Returns the events. */
  public FakeEvents events() {
    return events;
  }

  /** Returns the memory of all devices. */
  public FakeMemory memory() {
    return memory;
  }

  /** Puts anything into a stream. */
  public void enqueue(long stream, Runnable task) {
    streams.get(stream).enqueue(task);
  }

  /** Ends the threads of the default streams. */
  public void close() {
    streams.close();
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
    return memory.left() + streams.left() + events.left() + contexts.left();
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
    return contexts.retain(ordinal);
  }

  @Override
  public void releasePrimaryContext(int ordinal) {
    contexts.release(ordinal);
  }

  @Override
  public long currentContext() {
    return contexts.current();
  }

  @Override
  public void setCurrentContext(long context) {
    contexts.setCurrent(context);
  }

  @Override
  public void synchronizeContext() {
    streams.synchronizeAll();
  }

  @Override
  public OptionalLong streamId(long stream) {
    return streams.id(stream);
  }

  @Override
  public int[] streamPriorities() {
    contexts.device();
    return new int[] {0, -5};
  }

  @Override
  public long createStream(int priority) {
    return streams.create();
  }

  @Override
  public void destroyStream(long stream) {
    streams.destroy(stream);
  }

  @Override
  public void synchronizeStream(long stream) {
    streams.get(stream).whenIdle().join();
  }

  @Override
  public boolean isCapturing(long stream) {
    streams.get(stream);
    return false;
  }

  @Override
  public void streamWaitEvent(long stream, long event) {
    enqueue(stream, events.when(event)::join);
  }

  @Override
  public long createEvent(boolean timed) {
    return events.create();
  }

  @Override
  public void destroyEvent(long event) {
    events.destroy(event);
  }

  @Override
  public void recordEvent(long event, long stream) {
    events.record(event, streams.get(stream));
  }

  @Override
  public boolean hasHappened(long event) {
    return events.query(event);
  }

  @Override
  public void synchronizeEvent(long event) {
    events.when(event).join();
  }

  @Override
  public float elapsedMillis(long start, long end) {
    measurements.incrementAndGet();
    return (events.when(end).join() - events.when(start).join()) / 1e6f;
  }

  /** Returns how often the time between two events was asked for. */
  public int measurements() {
    return measurements.get();
  }

  @Override
  public long allocate(long bytes) {
    return memory.allocate(contexts.device(), bytes);
  }

  /** Waits before it frees, as the driver may. */
  @Override
  public void free(long address) {
    synchronizeContext();
    memory.free(address);
  }

  /** Frees memory of an allocator that maps it itself, without waiting. */
  public void unmap(long address) {
    contexts.device();
    memory.free(address);
  }

  @Override
  public MemoryInfo memoryInfo() {
    return memory.info(contexts.device());
  }

  /** Returns how many bytes of host memory are pinned. */
  public long hostBytes() {
    return memory.hostBytes();
  }

  @Override
  public HostMemory allocateHost(int bytes) {
    contexts.device();
    return memory.allocateHost(bytes);
  }

  @Override
  public void freeHost(HostMemory host) {
    contexts.device();
    memory.free(host.address());
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
    ByteBuffer from = memory.bytes(source, bytes);
    ByteBuffer to = memory.bytes(destination, bytes);
    enqueue(stream, () -> to.duplicate().put(from.duplicate()));
  }

  @Override
  public void fill(long destination, byte value, long bytes, long stream) {
    ByteBuffer to = memory.bytes(destination, bytes);
    byte[] values = new byte[to.capacity()];
    Arrays.fill(values, value);
    enqueue(stream, () -> to.duplicate().put(values));
  }

  @Override
  public int deviceOf(long address) {
    contexts.device();
    return memory.deviceOf(address);
  }

  @Override
  public long allocationId(long address) {
    contexts.device();
    return memory.id(address);
  }

  @Override
  public long loadModule(byte[] ptx) {
    throw noKernels("cuModuleLoadDataEx");
  }

  @Override
  public void unloadModule(long module) {
    throw noKernels("cuModuleUnload");
  }

  @Override
  public long function(long module, String name) {
    throw noKernels("cuModuleGetFunction");
  }

  @Override
  public void launch(
      long function, int blocks, int threads, int sharedBytes, long stream, long... arguments) {
    throw noKernels("cuLaunchKernel");
  }

  private static CudaException noKernels(String call) {
    return new CudaException(call, NOT_SUPPORTED, "a fake runs no kernels");
  }
}
