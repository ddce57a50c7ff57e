package org.sparkcollectives.gpu.testing;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.TreeMap;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.cuda.HostMemory;
import org.sparkcollectives.gpu.cuda.MemoryInfo;

/** The memory of all devices of a fake, and the pinned memory of the host: the device -1. */
public final class FakeMemory {

  private static final int HOST = -1;

  private static final int INVALID_VALUE = 1;
  private static final int OUT_OF_MEMORY = 2;
  private static final int ILLEGAL_ADDRESS = 700;

  private final TreeMap<Long, Piece> pieces = new TreeMap<>();
  private long fresh = 0x10000;
  private long nextId = 1;
  private long nextAddress;
  private long limit = Integer.MAX_VALUE;
  private long hostLimit = Integer.MAX_VALUE;

  private record Piece(int device, ByteBuffer bytes, long id) {}

  FakeMemory() {}

  /** Limits the memory of each device to so many bytes from now on. */
  public synchronized void limit(long bytes) {
    limit = bytes;
  }

  /** Limits the memory of the host that may be pinned to so many bytes from now on. */
  public synchronized void limitHost(long bytes) {
    hostLimit = bytes;
  }

  /** Places the next allocation at the address of one that was freed. */
  public synchronized void allocateNextAt(long address) {
    nextAddress = address;
  }

  synchronized long allocate(int device, long bytes) {
    String call = "cuMemAlloc of " + bytes + " bytes";
    if (bytes <= 0) {
      throw new CudaException(call, INVALID_VALUE, "invalid argument");
    }
    if (bytes > (device == HOST ? hostLimit : limit) - used(device)) {
      throw new CudaException(call, OUT_OF_MEMORY, "out of memory");
    }
    long address = nextAddress == 0 ? fresh : nextAddress;
    nextAddress = 0;
    // A gap, so that overruns are noticed.
    fresh += (bytes / 512 + 2) * 512;
    pieces.put(address, new Piece(device, bytesOf(device, (int) bytes), nextId++));
    return address;
  }

  HostMemory allocateHost(int bytes) {
    long address = allocate(HOST, bytes);
    // The buffer must not be a view of one that is kept here: it must become unreachable.
    Pointer pinned = Native.getDirectBufferPointer(bytes(address, bytes));
    return new HostMemory(address, pinned.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder()));
  }

  private static ByteBuffer bytesOf(int device, int bytes) {
    return device == HOST ? ByteBuffer.allocateDirect(bytes) : ByteBuffer.allocate(bytes);
  }

  private long used(int device) {
    return pieces.values().stream()
        .filter(each -> each.device == device)
        .mapToLong(each -> each.bytes.capacity())
        .sum();
  }

  synchronized long hostBytes() {
    return used(HOST);
  }

  synchronized MemoryInfo info(int device) {
    return new MemoryInfo(limit - used(device), limit);
  }

  synchronized void free(long address) {
    if (pieces.remove(address) == null) {
      throw new CudaException("cuMemFree", INVALID_VALUE, "not allocated");
    }
  }

  private Map.Entry<Long, Piece> at(long address, long length) {
    Map.Entry<Long, Piece> entry = pieces.floorEntry(address);
    if (entry == null || address - entry.getKey() + length > entry.getValue().bytes.capacity()) {
      throw new CudaException(
          "access to " + length + " bytes at 0x" + Long.toHexString(address),
          ILLEGAL_ADDRESS,
          "an illegal memory access was encountered");
    }
    return entry;
  }

  /** Returns a view of the bytes at an address of a device or of the host. */
  public synchronized ByteBuffer bytes(long address, long length) {
    Map.Entry<Long, Piece> entry = at(address, length);
    int offset = (int) (address - entry.getKey());
    return entry.getValue().bytes.slice(offset, (int) length).order(ByteOrder.nativeOrder());
  }

  synchronized int deviceOf(long address) {
    return at(address, 1).getValue().device;
  }

  synchronized long id(long address) {
    return at(address, 1).getValue().id;
  }

  /** Returns the allocations that are left. */
  synchronized String left() {
    StringBuilder text = new StringBuilder();
    for (Piece each : pieces.values()) {
      if (each.device != HOST) {
        text.append(" memory of ").append(each.bytes.capacity());
      }
    }
    long onHost = pieces.values().stream().filter(each -> each.device == HOST).count();
    return text + " host memory".repeat((int) onHost);
  }
}
