package org.sparkcollectives.spark.python;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.tensor.DirectTensor;
import org.sparkcollectives.transport.shm.SharedFileMemory;

/**
 * The memory in which the tensors of one task's Python workers lie. Thread-safe.
 *
 * <p>The best there is: where a group's ranks see each other's memory, in that; else in a file of
 * this JVM's that the worker maps, in memory or, where there is no room, in a local folder. Where
 * the worker cannot map, it is this JVM's alone, and the worker's bytes travel over the socket.
 */
final class Segments {

  private final Supplier<Path> folder;
  private final Map<Integer, Segment> segments = new ConcurrentHashMap<>();
  private final AtomicInteger next = new AtomicInteger(1);

  /**
   * One piece of memory.
   *
   * @param group the group whose tensors lie in it
   * @param shared null if it is this JVM's alone
   * @param own null if it is shared
   */
  record Segment(int id, ProcessGroup group, long bytes, SharedMemory shared, ByteBuffer own) {

    Tensor tensor(Request.TensorPlace place) {
      if (shared != null) {
        return shared.tensor(place.dtype(), place.offset(), place.count());
      }
      long size = Math.multiplyExact(place.count(), (long) place.dtype().bytes());
      range(place.offset(), size);
      return DirectTensor.within(place.dtype(), own, (int) place.offset(), (int) place.count());
    }

    /** Bytes of memory that is this JVM's alone. */
    ByteBuffer range(long offset, long count) {
      if (own == null) {
        throw new IllegalArgumentException("Segment " + id + " is mapped, not sent");
      }
      if (offset < 0 || count < 0 || offset > bytes - count) {
        throw new IllegalArgumentException(
            count
                + " bytes from "
                + offset
                + " on are not within the "
                + bytes
                + " of segment "
                + id);
      }
      return own.slice((int) offset, (int) count);
    }
  }

  /**
   * With a folder for files that find no room in memory.
   *
   * @param folder on a local disk
   */
  Segments(Supplier<Path> folder) {
    this.folder = folder;
  }

  /**
   * Zeros for tensors of {@code group}.
   *
   * @param mapped whether the worker can map memory of this process
   */
  Segment allocate(ProcessGroup group, long bytes, boolean mapped) throws IOException {
    SharedMemory shared = mapped ? shared(group, bytes) : null;
    ByteBuffer own = shared == null ? direct(bytes) : null;
    Segment segment = new Segment(next.getAndIncrement(), group, bytes, shared, own);
    segments.put(segment.id(), segment);
    return segment;
  }

  private SharedMemory shared(ProcessGroup group, long bytes) throws IOException {
    try {
      return group.allocateShared(bytes);
    } catch (IOException inMemory) {
      try {
        return SharedFileMemory.create(folder.get(), bytes);
      } catch (IOException onDisk) {
        onDisk.addSuppressed(inMemory);
        throw onDisk;
      }
    }
  }

  private static ByteBuffer direct(long bytes) throws IOException {
    if (bytes < 0 || bytes > Integer.MAX_VALUE) {
      throw new IOException(bytes + " bytes are more than a buffer can hold");
    }
    return ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
  }

  Segment get(int id) {
    Segment segment = segments.get(id);
    if (segment == null) {
      throw new IllegalArgumentException("There is no segment " + id);
    }
    return segment;
  }

  Tensor tensor(Request.TensorPlace place) {
    return get(place.segment()).tensor(place);
  }

  List<Tensor> tensors(List<Request.TensorPlace> places) {
    List<Tensor> tensors = new ArrayList<>(places.size());
    for (Request.TensorPlace each : places) {
      tensors.add(tensor(each));
    }
    return tensors;
  }

  /**
   * Lets go of the memory of a group that is closed.
   *
   * @param idle whether nobody can touch it any more; else it goes with the last who holds it
   */
  void release(ProcessGroup group, boolean idle) {
    for (Segment each : segments.values()) {
      if (each.group().equals(group)) {
        release(each, idle);
      }
    }
  }

  /** Lets go of all, see {@link #release}. */
  void close(boolean idle) {
    segments.values().forEach(each -> release(each, idle));
  }

  private void release(Segment segment, boolean idle) {
    if (segments.remove(segment.id(), segment) && idle && segment.shared() != null) {
      segment.shared().close();
    }
  }
}
