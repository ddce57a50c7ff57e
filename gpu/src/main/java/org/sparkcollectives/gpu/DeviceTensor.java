package org.sparkcollectives.gpu;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DeviceMemory;
import org.sparkcollectives.gpu.cuda.MemoryUse;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorView;

/**
 * A tensor in the memory of a GPU: allocated here, or wrapped around memory of another library.
 *
 * <p>Copies go into the calling thread's current stream, see {@link CudaStream#use}, after the work
 * that is in it already. Copies from and to host memory block until they are done. The caller must
 * wait for other streams that write the tensor.
 */
public final class DeviceTensor implements TensorView {

  private final CudaDevice device;
  private final DeviceMemory memory;

  private final long address;
  private final DType dtype;
  private final long count;
  private final long[] shape;

  private DeviceTensor(
      CudaDevice device, DeviceMemory memory, long address, DType dtype, long count, long[] shape) {
    this.device = device;
    this.memory = memory;
    this.address = address;
    this.dtype = dtype;
    this.count = count;
    this.shape = shape;
  }

  /**
   * Allocates a tensor of one dimension with {@code count} zeros. Its memory is reused after {@link
   * #free}, or once no tensor over it is reachable; until then it stays valid, even if the device
   * is closed. It belongs to the thread's current stream: see {@link DeviceMemory}.
   *
   * @throws org.sparkcollectives.gpu.cuda.CudaException if there is not enough memory. Before that,
   *     all memory kept for later tensors is given back to the driver, which waits for the GPU
   */
  public static DeviceTensor allocate(CudaDevice device, DType dtype, long count) {
    Objects.requireNonNull(dtype, "dtype");
    if (count < 0 || count > Long.MAX_VALUE / dtype.bytes()) {
      throw new IllegalArgumentException("A tensor cannot have " + count + " elements");
    }
    DeviceMemory memory = DeviceMemory.allocate(device, count * dtype.bytes());
    DeviceTensor tensor =
        new DeviceTensor(device, memory, memory.address(), dtype, count, new long[] {count});
    try {
      tensor.zero();
    } catch (RuntimeException e) {
      tensor.free();
      throw e;
    }
    return tensor;
  }

  /** Copies host memory to new memory of a GPU. */
  public static DeviceTensor copyOf(CudaDevice device, Tensor host) {
    DeviceTensor copy = allocate(device, host.dtype(), host.count());
    copy.copyFrom(host);
    return copy.reshape(host.shape());
  }

  /**
   * Wraps memory that another library has allocated on the device as a tensor of one dimension, for
   * example torch's {@code data_ptr} or a column of cudf. That library must keep the memory for as
   * long as the tensor is used.
   *
   * @throws IllegalArgumentException if the address is not aligned to the type, or is 0 while there
   *     are elements
   * @throws org.sparkcollectives.gpu.cuda.CudaException if the address is not on a device
   */
  public static DeviceTensor wrap(CudaDevice device, DType dtype, long address, long count) {
    if (count < 0 || (address == 0 && count > 0) || address % dtype.bytes() != 0) {
      throw new IllegalArgumentException(
          "Address 0x"
              + Long.toHexString(address)
              + " cannot hold "
              + count
              + " elements of "
              + dtype.label());
    }
    if (count > 0) {
      requireOn(device, address);
    }
    return new DeviceTensor(device, null, address, dtype, count, new long[] {count});
  }

  /**
   * Creates a tensor of one dimension over memory that was allocated on the device by other means
   * than {@link #allocate}; {@link #free} frees it.
   */
  public static DeviceTensor over(CudaDevice device, DeviceMemory memory, DType dtype, long count) {
    requireOn(device, memory.address());
    return new DeviceTensor(device, memory, memory.address(), dtype, count, new long[] {count});
  }

  private static void requireOn(CudaDevice device, long address) {
    long previous = device.enter();
    try {
      int actual = device.cuda().deviceOf(address);
      if (actual != device.ordinal()) {
        throw new IllegalArgumentException(
            "Address 0x"
                + Long.toHexString(address)
                + " is in the memory of "
                + Device.cuda(actual)
                + ", not of "
                + device.device());
      }
    } finally {
      device.leave(previous);
    }
  }

  /**
   * Returns {@code tensor} as memory of a GPU.
   *
   * @throws IllegalArgumentException if it lies elsewhere
   */
  public static DeviceTensor of(Tensor tensor) {
    if (tensor instanceof DeviceTensor own) {
      return own;
    }
    throw new IllegalArgumentException(
        "Only tensors in the memory of a GPU, created by DeviceTensor, can be used here, not "
            + tensor);
  }

  /** Returns the GPU. */
  public CudaDevice gpu() {
    return device;
  }

  /** Returns the address of the first element in the GPU's memory: a {@code CUdeviceptr}. */
  public long address() {
    return address;
  }

  /**
   * Frees the memory of this tensor and of all views of it, which are refused from then on.
   * Operations in progress still use it: the memory is reused only after they and the work in its
   * stream are done. Does not block; idempotent. Has no effect on memory of another library.
   */
  public void free() {
    if (memory != null) {
      memory.free();
    }
  }

  /**
   * Keeps the memory of tensors for an operation, so that neither {@link #free} nor the garbage
   * collector releases it.
   *
   * @throws IllegalStateException if the memory of one was freed
   */
  public static MemoryUse use(List<DeviceTensor> tensors) {
    return MemoryUse.of(
        tensors.stream().map(each -> each.memory).filter(Objects::nonNull).toList());
  }

  private MemoryUse use() {
    return use(List.of(this));
  }

  @Override
  public DType dtype() {
    return dtype;
  }

  @Override
  public long count() {
    return count;
  }

  @Override
  public long[] shape() {
    return shape.clone();
  }

  @Override
  public Device device() {
    return device.device();
  }

  @Override
  public DeviceTensor slice(long offset, long length) {
    if (offset < 0 || length < 0 || offset > count - length) {
      throw new IllegalArgumentException(
          "The range of "
              + length
              + " elements from "
              + offset
              + " on is not within the "
              + count
              + " elements of "
              + this);
    }
    return new DeviceTensor(
        device, memory, address + offset * dtype.bytes(), dtype, length, new long[] {length});
  }

  @Override
  public DeviceTensor reshape(long... newShape) {
    long product = 1;
    for (long each : newShape) {
      product = each < 0 ? -1 : Math.multiplyExact(product, each);
    }
    if (product != count) {
      throw new IllegalArgumentException(
          this
              + " has "
              + count
              + " elements and cannot be reshaped to "
              + Arrays.toString(newShape));
    }
    return new DeviceTensor(device, memory, address, dtype, count, newShape.clone());
  }

  /** Sets all bytes to zero, in the current stream; does not block. */
  public void zero() {
    inCurrentStream(stream -> device.cuda().fill(address, (byte) 0, byteSize(), stream));
  }

  @Override
  public void copyTo(Object primitiveArray) {
    HostTensor host = HostTensor.wrap(dtype, primitiveArray);
    requireSame(host);
    copyTo(host);
  }

  @Override
  public void copyFrom(Object primitiveArray) {
    copyFrom(HostTensor.wrap(dtype, primitiveArray));
  }

  @Override
  public void copyFrom(Tensor other) {
    TensorView source = TensorView.of(other);
    requireSame(source);
    if (source instanceof HostTensor host) {
      copyFromHost(host);
    } else {
      copyOnDevice(of(source));
    }
  }

  private void requireSame(TensorView other) {
    if (other.dtype() != dtype || other.count() != count) {
      throw new IllegalArgumentException(
          this + " cannot be copied from or to " + other + ": types and counts must be equal");
    }
  }

  private void copyOnDevice(DeviceTensor source) {
    MemoryUse read = source.use();
    try {
      inCurrentStream(
          stream -> device.cuda().copyOnDevice(address, source.address, byteSize(), stream));
    } finally {
      read.close();
    }
  }

  private void copyFromHost(HostTensor host) {
    inCurrentStream(
        stream -> {
          try (HostCopy copy = new HostCopy(device, stream, address, host)) {
            copy.toDevice();
          }
        });
  }

  @Override
  public void copyTo(HostTensor destination) {
    inCurrentStream(
        stream -> {
          try (HostCopy copy = new HostCopy(device, stream, address, destination)) {
            copy.toHost();
          }
        });
  }

  /**
   * Runs {@code calls} with the current stream while the tensor's memory is kept. Does nothing if
   * the tensor is empty.
   */
  private void inCurrentStream(LongConsumer calls) {
    if (count == 0) {
      return;
    }
    MemoryUse written = use();
    long previous = device.enter();
    try {
      calls.accept(CudaStream.current(device).handle());
    } finally {
      device.leave(previous);
      written.close();
    }
  }

  /** Returns null: the tensor is not on the heap. */
  @Override
  public Object array() {
    return null;
  }

  @Override
  public boolean overlaps(TensorView other) {
    return other instanceof DeviceTensor that
        && that.device.ordinal() == device.ordinal()
        && count > 0
        && that.count > 0
        && address < that.address + that.byteSize()
        && that.address < address + byteSize();
  }

  @Override
  public boolean isSameMemoryAs(TensorView other) {
    return overlaps(other)
        && ((DeviceTensor) other).address == address
        && other.byteSize() == byteSize();
  }

  /** Returns the type, the shape and the device, such as {@code float32[2, 3] on cuda:0}. */
  @Override
  public String toString() {
    return dtype.label() + Arrays.toString(shape) + " on " + device();
  }
}
