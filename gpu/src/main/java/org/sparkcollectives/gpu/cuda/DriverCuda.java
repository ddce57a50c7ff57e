package org.sparkcollectives.gpu.cuda;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUuuid;
import jcuda.driver.JCudaDriver;

/** The CUDA driver of this machine, called through JCuda. One per process. */
public final class DriverCuda implements Cuda {

  private static final int NON_BLOCKING_STREAM = 1;
  private static final int UNTIMED_EVENT = 2;
  private static final int PORTABLE = 1;
  private static final int BUFFER_ID_ATTRIBUTE = 7;
  private static final int DEVICE_ORDINAL_ATTRIBUTE = 9;

  private static final int FIRST_WITH_STREAM_IDS = 12000;

  private static DriverCuda driver;

  /** The reason why the bindings could not be loaded; null if they could, or were not tried. */
  private static String refused;

  /** The bindings store in the object whether memory is host memory, so the object must be kept. */
  private final Map<Long, Pointer> hostMemory = new ConcurrentHashMap<>();

  private DriverCuda() {
    check("cuInit", JCudaDriver.cuInit(0));
  }

  /**
   * Returns the driver, which the first call loads.
   *
   * @throws CudaException if there is none, or no GPU, saying what was tried
   */
  public static synchronized DriverCuda load() {
    if (driver == null) {
      if (refused != null) {
        // A second attempt would not report the cause: the class of the bindings is then broken.
        throw new CudaException(refused, null);
      }
      try {
        DriverLibrary.load();
      } catch (CudaException e) {
        refused = e.getMessage();
        throw e;
      }
      driver = new DriverCuda();
    }
    return driver;
  }

  static void check(String call, int result) {
    if (result != CUresult.CUDA_SUCCESS) {
      throw new CudaException(call, result, CUresult.stringFor(result));
    }
  }

  @Override
  public int driverVersion() {
    int[] version = new int[1];
    check("cuDriverGetVersion", JCudaDriver.cuDriverGetVersion(version));
    return version[0];
  }

  @Override
  public int deviceCount() {
    int[] count = new int[1];
    check("cuDeviceGetCount", JCudaDriver.cuDeviceGetCount(count));
    return count[0];
  }

  @Override
  public String deviceName(int ordinal) {
    byte[] name = new byte[256];
    check(
        "cuDeviceGetName",
        JCudaDriver.cuDeviceGetName(name, name.length, DriverHandles.device(ordinal)));
    return new String(name, StandardCharsets.US_ASCII).split("\0", 2)[0];
  }

  @Override
  public byte[] deviceUuid(int ordinal) {
    CUuuid uuid = new CUuuid();
    check("cuDeviceGetUuid", JCudaDriver.cuDeviceGetUuid(uuid, DriverHandles.device(ordinal)));
    return uuid.bytes.clone();
  }

  @Override
  public String devicePciBusId(int ordinal) {
    String[] id = new String[1];
    check(
        "cuDeviceGetPCIBusId",
        JCudaDriver.cuDeviceGetPCIBusId(id, 32, DriverHandles.device(ordinal)));
    return id[0].trim();
  }

  @Override
  public long retainPrimaryContext(int ordinal) {
    CUcontext context = new CUcontext();
    check(
        "cuDevicePrimaryCtxRetain",
        JCudaDriver.cuDevicePrimaryCtxRetain(context, DriverHandles.device(ordinal)));
    return DriverHandles.of(context);
  }

  @Override
  public void releasePrimaryContext(int ordinal) {
    check(
        "cuDevicePrimaryCtxRelease",
        JCudaDriver.cuDevicePrimaryCtxRelease(DriverHandles.device(ordinal)));
  }

  @Override
  public long currentContext() {
    CUcontext context = new CUcontext();
    check("cuCtxGetCurrent", JCudaDriver.cuCtxGetCurrent(context));
    return DriverHandles.of(context);
  }

  @Override
  public void setCurrentContext(long context) {
    check("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(DriverHandles.context(context)));
  }

  @Override
  public void synchronizeContext() {
    check("cuCtxSynchronize", JCudaDriver.cuCtxSynchronize());
  }

  @Override
  public int[] streamPriorities() {
    int[] lowest = new int[1];
    int[] highest = new int[1];
    check("cuCtxGetStreamPriorityRange", JCudaDriver.cuCtxGetStreamPriorityRange(lowest, highest));
    return new int[] {lowest[0], highest[0]};
  }

  @Override
  public long createStream(int priority) {
    CUstream stream = new CUstream();
    check(
        "cuStreamCreateWithPriority",
        JCudaDriver.cuStreamCreateWithPriority(stream, NON_BLOCKING_STREAM, priority));
    return DriverHandles.of(stream);
  }

  @Override
  public void destroyStream(long stream) {
    check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(DriverHandles.stream(stream)));
  }

  @Override
  public void synchronizeStream(long stream) {
    check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(DriverHandles.stream(stream)));
  }

  @Override
  public OptionalLong streamId(long stream) {
    // An older driver lacks this function, and calling it would end the process.
    if (driverVersion() < FIRST_WITH_STREAM_IDS) {
      return OptionalLong.empty();
    }
    long[] id = new long[1];
    check("cuStreamGetId", JCudaDriver.cuStreamGetId(DriverHandles.stream(stream), id));
    return OptionalLong.of(id[0]);
  }

  @Override
  public boolean isCapturing(long stream) {
    int[] status = new int[1];
    check(
        "cuStreamIsCapturing",
        JCudaDriver.cuStreamIsCapturing(DriverHandles.stream(stream), status));
    return status[0] != 0;
  }

  @Override
  public void streamWaitEvent(long stream, long event) {
    check(
        "cuStreamWaitEvent",
        JCudaDriver.cuStreamWaitEvent(DriverHandles.stream(stream), DriverHandles.event(event), 0));
  }

  @Override
  public long createEvent(boolean timed) {
    CUevent event = new CUevent();
    check("cuEventCreate", JCudaDriver.cuEventCreate(event, timed ? 0 : UNTIMED_EVENT));
    return DriverHandles.of(event);
  }

  @Override
  public void destroyEvent(long event) {
    check("cuEventDestroy", JCudaDriver.cuEventDestroy(DriverHandles.event(event)));
  }

  @Override
  public void recordEvent(long event, long stream) {
    check(
        "cuEventRecord",
        JCudaDriver.cuEventRecord(DriverHandles.event(event), DriverHandles.stream(stream)));
  }

  @Override
  public boolean hasHappened(long event) {
    int result = JCudaDriver.cuEventQuery(DriverHandles.event(event));
    if (result == CUresult.CUDA_ERROR_NOT_READY) {
      return false;
    }
    check("cuEventQuery", result);
    return true;
  }

  @Override
  public void synchronizeEvent(long event) {
    check("cuEventSynchronize", JCudaDriver.cuEventSynchronize(DriverHandles.event(event)));
  }

  @Override
  public float elapsedMillis(long start, long end) {
    float[] millis = new float[1];
    check(
        "cuEventElapsedTime",
        JCudaDriver.cuEventElapsedTime(
            millis, DriverHandles.event(start), DriverHandles.event(end)));
    return millis[0];
  }

  @Override
  public long allocate(long bytes) {
    CUdeviceptr address = new CUdeviceptr();
    check("cuMemAlloc of " + bytes + " bytes", JCudaDriver.cuMemAlloc(address, bytes));
    return DriverHandles.of(address);
  }

  @Override
  public void free(long address) {
    check("cuMemFree", JCudaDriver.cuMemFree(DriverHandles.deviceAddress(address)));
  }

  @Override
  public MemoryInfo memoryInfo() {
    long[] free = new long[1];
    long[] total = new long[1];
    check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(free, total));
    return new MemoryInfo(free[0], total[0]);
  }

  @Override
  public HostMemory allocateHost(int bytes) {
    Pointer pointer = new Pointer();
    check(
        "cuMemHostAlloc of " + bytes + " bytes",
        JCudaDriver.cuMemHostAlloc(pointer, bytes, PORTABLE));
    long address = DriverHandles.of(pointer);
    hostMemory.put(address, pointer);
    // The buffer must not be a view of another one: the memory is kept as long as one of its views
    // is reachable.
    return new HostMemory(
        address,
        new com.sun.jna.Pointer(address).getByteBuffer(0, bytes).order(ByteOrder.nativeOrder()));
  }

  @Override
  public void freeHost(HostMemory memory) {
    check("cuMemFreeHost", JCudaDriver.cuMemFreeHost(hostMemory.remove(memory.address())));
  }

  @Override
  public void copyToDevice(long destination, long hostSource, long bytes, long stream) {
    check(
        "cuMemcpyHtoDAsync of " + bytes + " bytes",
        JCudaDriver.cuMemcpyHtoDAsync(
            DriverHandles.deviceAddress(destination),
            DriverHandles.hostAddress(hostSource),
            bytes,
            DriverHandles.stream(stream)));
  }

  @Override
  public void copyToHost(long hostDestination, long source, long bytes, long stream) {
    check(
        "cuMemcpyDtoHAsync of " + bytes + " bytes",
        JCudaDriver.cuMemcpyDtoHAsync(
            DriverHandles.hostAddress(hostDestination),
            DriverHandles.deviceAddress(source),
            bytes,
            DriverHandles.stream(stream)));
  }

  @Override
  public void copyOnDevice(long destination, long source, long bytes, long stream) {
    check(
        "cuMemcpyDtoDAsync of " + bytes + " bytes",
        JCudaDriver.cuMemcpyDtoDAsync(
            DriverHandles.deviceAddress(destination),
            DriverHandles.deviceAddress(source),
            bytes,
            DriverHandles.stream(stream)));
  }

  @Override
  public void fill(long destination, byte value, long bytes, long stream) {
    check(
        "cuMemsetD8Async of " + bytes + " bytes",
        JCudaDriver.cuMemsetD8Async(
            DriverHandles.deviceAddress(destination), value, bytes, DriverHandles.stream(stream)));
  }

  @Override
  public int deviceOf(long address) {
    return attribute(DEVICE_ORDINAL_ATTRIBUTE, address).getInt(0);
  }

  @Override
  public long allocationId(long address) {
    return attribute(BUFFER_ID_ATTRIBUTE, address).getLong(0);
  }

  private static ByteBuffer attribute(int attribute, long address) {
    ByteBuffer value = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    check(
        "cuPointerGetAttribute of address 0x" + Long.toHexString(address),
        JCudaDriver.cuPointerGetAttribute(
            Pointer.to(value), attribute, DriverHandles.deviceAddress(address)));
    return value;
  }

  @Override
  public long loadModule(byte[] ptx) {
    // The text ends in a zero: the driver reads it as a C string.
    ByteBuffer text = ByteBuffer.allocateDirect(ptx.length + 1).put(0, ptx);
    CUmodule module = new CUmodule();
    check(
        "cuModuleLoadDataEx",
        JCudaDriver.cuModuleLoadDataEx(
            module, Pointer.to(text), 0, new int[0], Pointer.to(new int[0])));
    return DriverHandles.of(module);
  }

  @Override
  public void unloadModule(long module) {
    check("cuModuleUnload", JCudaDriver.cuModuleUnload(DriverHandles.module(module)));
  }

  @Override
  public long function(long module, String name) {
    CUfunction function = new CUfunction();
    check(
        "cuModuleGetFunction of " + name,
        JCudaDriver.cuModuleGetFunction(function, DriverHandles.module(module), name));
    return DriverHandles.of(function);
  }

  @Override
  public void launch(
      long function, int blocks, int threads, int sharedBytes, long stream, long... arguments) {
    ByteBuffer values =
        ByteBuffer.allocateDirect(arguments.length * Long.BYTES).order(ByteOrder.nativeOrder());
    Pointer[] pointers = new Pointer[arguments.length];
    Pointer base = Pointer.to(values);
    for (int i = 0; i < arguments.length; i++) {
      values.putLong(i * Long.BYTES, arguments[i]);
      pointers[i] = base.withByteOffset((long) i * Long.BYTES);
    }
    try {
      check(
          "cuLaunchKernel",
          JCudaDriver.cuLaunchKernel(
              DriverHandles.function(function),
              blocks,
              1,
              1,
              threads,
              1,
              1,
              sharedBytes,
              DriverHandles.stream(stream),
              Pointer.to(pointers),
              null));
    } finally {
      // When the call returns, the driver has copied the arguments.
      Reference.reachabilityFence(values);
    }
  }
}
