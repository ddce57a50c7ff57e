package org.sparkcollectives.spark.internal.python;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SharedMemory;

/**
 * The memory in which the tensors of one task's Python workers lie. Thread-safe.
 *
 * <p>The best kind that is available is used. If a group's ranks see each other's memory, it is
 * that memory. Otherwise it is a file of this JVM's that the worker maps, in memory or, if there is
 * no space, in a local folder. If the worker cannot map memory, only this JVM has it, and the bytes
 * travel over the socket.
 */
final class Segments {

  private final Supplier<Path> folder;
  private final Map<Integer, Segment> segments = new ConcurrentHashMap<>();
  private final AtomicInteger next = new AtomicInteger(1);

  /**
   * Creates an empty set of segments.
   *
   * @param folder on a local disk
   */
  Segments(Supplier<Path> folder) {
    this.folder = folder;
  }

  /**
   * Allocates zeros for tensors of {@code group}.
   *
   * @param mapped whether the worker can map memory of this process
   */
  Segment allocate(ProcessGroup group, long bytes, boolean mapped) throws IOException {
    SharedMemory shared = mapped ? shared(group, bytes) : null;
    return keep(group, bytes, shared, shared == null ? direct(bytes) : null);
  }

  /**
   * Allocates zeros that the workers of all ranks of {@code group} on this host may map.
   *
   * @throws IOException if the group's settings keep its ranks from sharing memory, or there is no
   *     room
   */
  Segment allocateForRanks(ProcessGroup group, long bytes) throws IOException {
    return keep(group, bytes, group.allocateShared(bytes), null);
  }

  private Segment keep(ProcessGroup group, long bytes, SharedMemory shared, ByteBuffer own) {
    Segment segment = new Segment(next.getAndIncrement(), group, bytes, shared, own);
    segments.put(segment.id(), segment);
    return segment;
  }

  private SharedMemory shared(ProcessGroup group, long bytes) throws IOException {
    try {
      return group.allocateShared(bytes);
    } catch (IOException inMemory) {
      try {
        return SharedMemory.create(folder.get(), bytes);
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

  /**
   * Returns a segment, which may be unmapped at any time unless the caller is a user of it.
   *
   * @throws IllegalArgumentException if there is none of this number
   */
  Segment get(int id) {
    Segment segment = segments.get(id);
    if (segment == null) {
      throw missing(id);
    }
    return segment;
  }

  static IllegalArgumentException missing(int id) {
    return new IllegalArgumentException(
        "There is no segment " + id + ", or its group is closed: arrays need a group that is open");
  }

  /** Returns the segments of a group. */
  List<Segment> of(ProcessGroup group) {
    return segments.values().stream().filter(each -> each.group().equals(group)).toList();
  }

  /** Ends one segment, see {@link Segment#release}. */
  void release(Segment segment, boolean deterministic) {
    segments.remove(segment.id(), segment);
    segment.release(deterministic);
  }

  /** Ends all segments of a group that is closed, see {@link Segment#release}. */
  void release(ProcessGroup group, boolean deterministic) {
    of(group).forEach(each -> release(each, deterministic));
  }

  /** Ends all segments, see {@link Segment#release}. */
  void close(boolean deterministic) {
    segments.values().forEach(each -> release(each, deterministic));
  }
}
