package org.sparkcollectives.gpu.cuda;

import java.util.OptionalLong;

/**
 * What this library asks of the CUDA driver. Handles and addresses are the driver's own, as
 * numbers.
 *
 * <p>Each call but those on devices needs a context that is current on the calling thread, see
 * {@link #setCurrentContext}. A call that the driver refuses throws {@link CudaException}. Calls
 * return at once unless they say that they block. Thread-safe.
 */
public interface Cuda {

  /** The default stream, which waits for all streams that were not made non-blocking. */
  long DEFAULT_STREAM = 0;

  /** The CUDA version that the driver is for, such as 12060 of 12.6. */
  int driverVersion();

  /** The number of devices that this process sees. */
  int deviceCount();

  /** The name of a device, such as {@code NVIDIA H100}. */
  String deviceName(int ordinal);

  /** The 16 bytes that no other GPU has. */
  byte[] deviceUuid(int ordinal);

  /** Where the device sits, such as {@code 0000:3b:00.0}. */
  String devicePciBusId(int ordinal);

  /** The context that all libraries of the process share on a device; to be released. */
  long retainPrimaryContext(int ordinal);

  /** Undoes one {@link #retainPrimaryContext}. */
  void releasePrimaryContext(int ordinal);

  /** The context of the calling thread, or 0. */
  long currentContext();

  /** Makes a context that of the calling thread; 0 for none. */
  void setCurrentContext(long context);

  /** Blocks until all is done that is in the streams of the current context. */
  void synchronizeContext();

  /** The priorities that streams can have: the lowest, which is the default, and the highest. */
  int[] streamPriorities();

  /** A stream that does not wait for the default stream. */
  long createStream(int priority);

  /** Lets go of a stream; what is in it is still done. */
  void destroyStream(long stream);

  /** Blocks until all is done that is in the stream. */
  void synchronizeStream(long stream);

  /**
   * What a stream has in common with no other of the process, not even with a later one of its
   * handle. Empty if the driver knows no such numbers: before CUDA 12.0.
   */
  OptionalLong streamId(long stream);

  /** Whether what is put into the stream is recorded for a graph rather than done. */
  boolean isCapturing(long stream);

  /** What is put into the stream from now on waits for the event. */
  void streamWaitEvent(long stream, long event);

  /** An event; {@code timed} ones can be measured with {@link #elapsedMillis}. */
  long createEvent(boolean timed);

  /** Lets go of an event. */
  void destroyEvent(long event);

  /** The event happens once all is done that is in the stream now. */
  void recordEvent(long event, long stream);

  /** Whether the event has happened since it was last recorded. */
  boolean hasHappened(long event);

  /** Blocks until the event has happened since it was last recorded. */
  void synchronizeEvent(long event);

  /** The time between two timed events that have happened. */
  float elapsedMillis(long start, long end);

  /** Memory on the device of the current context. Not said to wait for the device. */
  long allocate(long bytes);

  /** Frees what {@link #allocate} gave, and nobody uses. May block until the device is idle. */
  void free(long address);

  /** What there is on the device of the current context. */
  MemoryInfo memoryInfo();

  /**
   * Host memory that a device can copy from and to by itself.
   *
   * @param bytes 1 to 2<sup>31</sup> - 1
   */
  HostMemory allocateHost(int bytes);

  /** Frees what {@link #allocateHost} gave. */
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
   * The ordinal of the device in whose memory an address is.
   *
   * @throws CudaException if it is in none
   */
  int deviceOf(long address);

  /**
   * What an allocation has in common with no other of the process, not even with a later one at its
   * address.
   *
   * @throws CudaException if nothing is allocated at the address
   */
  long allocationId(long address);

  /**
   * Loads kernels.
   *
   * @param ptx the text, in ASCII, as nvcc makes it
   */
  long loadModule(byte[] ptx);

  /** Lets go of the kernels of a module. */
  void unloadModule(long module);

  /** A kernel by its name. */
  long function(long module, String name);

  /**
   * Puts a kernel into a stream.
   *
   * @param blocks the number of blocks of threads
   * @param threads the number of threads of each
   * @param sharedBytes the memory that the threads of a block share
   * @param arguments in the order of the kernel's parameters, each in the low bytes of a number
   */
  void launch(
      long function, int blocks, int threads, int sharedBytes, long stream, long... arguments);
}
