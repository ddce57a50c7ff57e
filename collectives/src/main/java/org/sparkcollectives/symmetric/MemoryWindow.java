package org.sparkcollectives.symmetric;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.CallCheck;

/**
 * Gives each rank memory that all ranks of a group read and write at agreed moments, on whatever
 * hosts they are: a window, as c10d and MPI call it, with MPI's fence.
 *
 * <p>{@link #put} and {@link #get} name a place in the memory of another rank, which need not know
 * of it. They take effect in the next {@link #fence}: first all puts, those of lower ranks before
 * those of higher ones and those of one rank in their order, then all gets. Between two fences a
 * rank may do with its own {@link #buffer} what it likes. Data goes over the group's paths, in
 * three exchanges among all ranks. Ranks of one host that want no fence use {@link
 * SymmetricMemory}.
 *
 * <p>Owns nothing but memory of this process. Thread-safe, but a fence is a collective of the
 * group, and a thread that puts while another one is in a fence puts for the next.
 */
public final class MemoryWindow {

  private final ProcessGroup group;
  private final ByteBuffer memory;
  private final Object lock = new Object();
  private List<WindowAccess> puts = new ArrayList<>();
  private List<WindowAccess> gets = new ArrayList<>();

  private MemoryWindow(ProcessGroup group, int bytes) {
    this.group = group;
    this.memory = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /**
   * Makes a window of zeros. A collective: called by all ranks of the group with the same size, and
   * blocks until all have called, for the group's timeout at the most.
   *
   * @param group in whose order of collectives the fences are; also of ranks on several hosts
   * @param bytes the size of each rank's memory; 0 to 2 GiB less one byte
   * @throws IllegalArgumentException on all ranks, if the size is wrong on one, or differs
   * @throws IllegalStateException on the ranks that have no room for it
   * @throws org.sparkcollectives.CollectiveException on the other ranks then
   */
  public static MemoryWindow create(ProcessGroup group, long bytes) {
    CallCheck check = new CallCheck(group, "making of a window");
    check.compare(
        () -> {
          if (bytes < 0 || bytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                bytes + " bytes; give 0 to " + Integer.MAX_VALUE + " bytes");
          }
          return List.of(bytes + " bytes");
        });
    MemoryWindow[] made = new MemoryWindow[1];
    check.byAll(() -> made[0] = new MemoryWindow(group, (int) bytes));
    return made[0];
  }

  /** Returns the size of each rank's memory in bytes. */
  public long bytes() {
    return memory.capacity();
  }

  /**
   * Returns a tensor of one dimension in this rank's own memory. A fence writes into it.
   *
   * @param offset where it begins, in bytes
   * @throws IllegalArgumentException if it is not all within the memory
   */
  public Tensor buffer(DType dtype, long offset, long count) {
    requireWithin("buffer", group.rank(), dtype, offset, count);
    return Tensor.wrap(dtype, part(memory, (int) offset, (int) (count * dtype.bytes())));
  }

  /**
   * Writes a tensor into the memory of a rank in the next fence. It is copied at once.
   *
   * @param source in host memory
   * @param destination the rank, which may be this one
   * @param offset where it goes, in bytes
   * @throws IllegalArgumentException if there is no such rank, or no such place in its memory
   */
  public void put(Tensor source, int destination, long offset) {
    requireWithin("put", destination, source.dtype(), offset, source.count());
    Tensor copy = Tensor.allocate(source.dtype(), source.count());
    copy.copyFrom(source);
    synchronized (lock) {
      puts.add(new WindowAccess(copy, destination, offset));
    }
  }

  /**
   * Reads a tensor from the memory of a rank in the next fence, after all puts.
   *
   * @param output in host memory, which must not be used before the fence has ended
   * @param source the rank, which may be this one
   * @param offset where it begins there, in bytes
   * @throws IllegalArgumentException if there is no such rank, or no such place in its memory
   */
  public void get(Tensor output, int source, long offset) {
    requireWithin("get", source, output.dtype(), offset, output.count());
    synchronized (lock) {
      gets.add(new WindowAccess(output, source, offset));
    }
  }

  /**
   * Carries out all puts and gets of all ranks since the last fence. A collective: called by all
   * ranks, and blocks until this rank's memory and its outputs have what they get, for the group's
   * timeout at the most in each of its exchanges.
   *
   * @throws IllegalStateException on all ranks, before data moves, if more than 2 GiB would go to
   *     one rank or come from one, or a rank has no room for what would; then what was to be done
   *     is forgotten
   * @throws org.sparkcollectives.CollectiveException if the group fails
   */
  public void fence() {
    List<WindowAccess> toPut;
    List<WindowAccess> toGet;
    synchronized (lock) {
      toPut = puts;
      toGet = gets;
      puts = new ArrayList<>();
      gets = new ArrayList<>();
    }
    WindowRequests putting = WindowRequests.of(group.size(), toPut);
    WindowRequests getting = WindowRequests.of(group.size(), toGet);
    WindowRequests incoming = putting.exchange(group);
    WindowRequests asked = getting.exchange(group);
    List<ByteBuffer> buffers = room(putting, incoming, asked, getting);

    ByteBuffer sent = buffers.get(0);
    int at = 0;
    for (WindowAccess each : putting.accesses()) {
      int size = (int) each.tensor().byteSize();
      Tensor.wrap(each.tensor().dtype(), part(sent, at, size)).copyFrom(each.tensor());
      at += size;
    }
    ByteBuffer received = buffers.get(1);
    exchange(sent, putting, received, incoming);
    incoming.forEach((offset, place, size) -> memory.put(offset, received, place, size));

    ByteBuffer replies = buffers.get(2);
    asked.forEach((offset, place, size) -> replies.put(place, memory, offset, size));
    ByteBuffer answers = buffers.get(3);
    exchange(replies, asked, answers, getting);
    at = 0;
    for (WindowAccess each : getting.accesses()) {
      int size = (int) each.tensor().byteSize();
      each.tensor().copyFrom(Tensor.wrap(each.tensor().dtype(), part(answers, at, size)));
      at += size;
    }
  }

  /** Sends the bytes of all ranks to them, and receives those that come. */
  private void exchange(ByteBuffer out, WindowRequests to, ByteBuffer in, WindowRequests from) {
    group
        .allToAll(
            Tensor.wrap(DType.UINT8, in),
            Tensor.wrap(DType.UINT8, out),
            from.bytesOfRanks(),
            to.bytesOfRanks())
        .await();
  }

  /** Returns a buffer for each; refuses on all ranks what is more than one of them can hold. */
  private List<ByteBuffer> room(WindowRequests... requests) {
    long most = 0;
    for (WindowRequests each : requests) {
      most = Math.max(most, each.bytes());
    }
    List<ByteBuffer> buffers = most > Integer.MAX_VALUE ? List.of() : direct(requests);
    long[] ofAll = {most, buffers.isEmpty() ? 1 : 0};
    group.allReduce(Tensor.of(ofAll), ReduceOp.MAX).await();
    if (ofAll[1] != 0) {
      throw new IllegalStateException(
          where("fence")
              + ": "
              + ofAll[0]
              + " bytes would go to one rank, or come from one, which "
              + (buffers.isEmpty() ? "this one" : "another one")
              + " has no room for; use several fences, with "
              + Integer.MAX_VALUE
              + " at the most in each");
    }
    return buffers;
  }

  /** Returns a buffer for each; none where there is no memory for all. */
  private static List<ByteBuffer> direct(WindowRequests... requests) {
    List<ByteBuffer> buffers = new ArrayList<>();
    try {
      for (WindowRequests each : requests) {
        buffers.add(ByteBuffer.allocateDirect((int) each.bytes()).order(ByteOrder.nativeOrder()));
      }
      return buffers;
    } catch (OutOfMemoryError e) {
      return List.of();
    }
  }

  private static ByteBuffer part(ByteBuffer of, int at, int size) {
    return of.slice(at, size).order(ByteOrder.nativeOrder());
  }

  private void requireWithin(String operation, int rank, DType dtype, long offset, long count) {
    if (rank < 0 || rank >= group.size()) {
      throw new IllegalArgumentException(
          where(operation) + ": there is no rank " + rank + ", only 0 to " + (group.size() - 1));
    }
    boolean begins = offset >= 0 && offset <= bytes();
    if (!begins || count < 0 || count > (bytes() - offset) / dtype.bytes()) {
      throw new IllegalArgumentException(
          where(operation)
              + ": "
              + dtype.label()
              + " x "
              + count
              + " from byte "
              + offset
              + " on are not within the "
              + bytes()
              + " bytes of rank "
              + rank);
    }
  }

  private String where(String operation) {
    return operation
        + " of a window of group \""
        + group.name()
        + "\" on rank "
        + group.rank()
        + " of "
        + group.size();
  }
}
