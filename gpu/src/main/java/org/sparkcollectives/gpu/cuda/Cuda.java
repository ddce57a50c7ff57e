package org.sparkcollectives.gpu.cuda;

import java.util.OptionalLong;

/**
 * The functions of the CUDA driver that this library uses. Handles and addresses are the driver's
 * own, as numbers.
 *
 * <p>Each call, except those on devices, needs a context that is current on the calling thread, see
 * {@link #setCurrentContext}. A call that the driver refuses throws {@link CudaException}. Calls
 * return at once unless their description says that they block. Thread-safe.
 */
public interface Cuda {

  /** The default stream, which waits for all streams that were not made non-blocking. */
  long DEFAULT_STREAM = 0;

  /** Returns the CUDA version that the driver supports, such as 12060 for 12.6. */
  int driverVersion();

  /** Returns the number of devices that this process sees. */
  int deviceCount();

  /** Returns the name of a device, such as {@code NVIDIA H100}. */
  String deviceName(int ordinal);

  /** Returns the 16 bytes of a device's UUID. */
  byte[] deviceUuid(int ordinal);

  /** Returns the PCI bus id of a device, such as {@code 0000:3b:00.0}. */
  String devicePciBusId(int ordinal);

  /**
   * Retains the context that all libraries of the process share on a device. The caller releases
   * it.
   */
  long retainPrimaryContext(int ordinal);

  /** Undoes one {@link #retainPrimaryContext}. */
  void releasePrimaryContext(int ordinal);

  /** Returns the context of the calling thread, or 0. */
  long currentContext();

  /** Makes a context current on the calling thread; 0 for none. */
  void setCurrentContext(long context);

  /** Blocks until all work in the streams of the current context is done. */
  void synchronizeContext();

  /**
   * Returns the priorities that streams can have: the lowest, which is the default, and the
   * highest.
   */
  int[] streamPriorities();

  /** Creates a stream that does not wait for the default stream. */
  long createStream(int priority);

  /** Destroys a stream. The work in it still completes. */
  void destroyStream(long stream);

  /** Blocks until all work in the stream is done. */
  void synchronizeStream(long stream);

  /**
   * Returns the id of a stream, which is unique in the process: a later stream with the same handle
   * has another id. Empty if the driver has no such ids: before CUDA 12.0.
   */
  OptionalLong streamId(long stream);

  /** Returns whether work put into the stream is recorded for a graph instead of executed. */
  boolean isCapturing(long stream);

  /** Makes all later work in the stream wait for the event. */
  void streamWaitEvent(long stream, long event);

  /** Creates an event. {@link #elapsedMillis} can measure {@code timed} events. */
  long createEvent(boolean timed);

  /** Destroys an event. */
  void destroyEvent(long event);

  /** Records the event, which happens once all work is done that is in the stream now. */
  void recordEvent(long event, long stream);

  /** Returns whether the event has happened since it was last recorded. */
  boolean hasHappened(long event);

  /** Blocks until the event has happened since it was last recorded. */
  void synchronizeEvent(long event);

  /** Returns the time between two timed events that have happened. */
  float elapsedMillis(long start, long end);

  /**
   * Allocates memory on the device of the current context. The driver does not document that it
   * waits for the device.
   */
  long allocate(long bytes);

  /** Frees memory from {@link #allocate} that nobody uses. May block until the device is idle. */
  void free(long address);

  /** Returns the free and total memory of the device of the current context. */
  MemoryInfo memoryInfo();

  /**
   * Allocates pinned host memory, which a device can copy from and to by itself.
   *
   * @param bytes 1 to 2<sup>31</sup> - 1
   */
  HostMemory allocateHost(int bytes);

  /** Frees memory from {@link #allocateHost}. */
  void freeHost(HostMemory memory);

  /** Copies from host memory that the device can reach. */
  void copyToDevice(long destination, long hostSource, long bytes, long stream);

  /** Copies to host memory that the device can reach. */
  void copyToHost(long hostDestination, long source, long bytes, long stream);

  /** Copies within a device or between two. */
  void copyOnDevice(long destination, long source, long bytes, long stream);

  /** Sets all bytes to {@code value}. */
  void fill(long destination, byte value, long bytes, long stream);

  /**
   * Returns the ordinal of the device in whose memory an address is.
   *
   * @throws CudaException if it is in none
   */
  int deviceOf(long address);

  /**
   * Returns the id of an allocation, which is unique in the process: a later allocation at its
   * address has another id.
   *
   * @throws CudaException if nothing is allocated at the address
   */
  long allocationId(long address);

  /**
   * Loads kernels.
   *
   * @param ptx the text, in ASCII, as nvcc produces it
   */
  long loadModule(byte[] ptx);

  /** Unloads the kernels of a module. */
  void unloadModule(long module);

  /** Returns a kernel by its name. */
  long function(long module, String name);

  /**
   * Launches a kernel in a stream.
   *
   * @param blocks the number of blocks of threads
   * @param threads the number of threads of each block
   * @param sharedBytes the memory that the threads of a block share
   * @param arguments in the order of the kernel's parameters, each in the low bytes of a number
   */
  void launch(
      long function, int blocks, int threads, int sharedBytes, long stream, long... arguments);
}
