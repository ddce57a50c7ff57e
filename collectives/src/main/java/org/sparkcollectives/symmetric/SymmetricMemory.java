package org.sparkcollectives.symmetric;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.CallCheck;
import org.sparkcollectives.spi.tensor.LeasedMemory;

/**
 * Gives each rank of a host memory that all of these ranks read and write, with signals between
 * them: c10d's symmetric memory, which exists there for GPUs only, in the memory of the host.
 *
 * <p><b>Buffers.</b> Each rank has a buffer of the same size, zero at first. {@link #buffer}
 * returns tensors in that of any rank: writing into one sends. Nothing is locked; the ranks agree
 * by signals on who may write when. What a thread has written before it gives a signal, or comes to
 * a barrier, is seen by a thread that has taken the signal or left the barrier.
 *
 * <p><b>Signals</b> are not counted: {@link #putSignal} waits until the one before was taken. The
 * flags are zero again when all have been taken. Parts of a program that know nothing of each other
 * take different channels; a barrier and signals of one channel must not be under way together.
 *
 * <p><b>Waits.</b> A wait spins for 20 µs if every rank has a processor, then sleeps for up to a
 * millisecond at a time. It takes the timeout that it is given, or the {@link ProcessGroup#timeout}
 * of the group, at the most. It throws {@link CollectiveException} when the group fails or is
 * aborted, when the process that it waits for has died, which ends the group on every rank, and
 * when that rank has closed its memory. When the timeout passes it throws {@link
 * CollectiveTimeoutException} with the missing ranks and aborts the group, and so does an
 * interrupt.
 *
 * <p>The memory has no name, so that nothing is left of it when processes are killed. A rank closes
 * it before the group. All methods may be called by any thread; two that wait for the same signal
 * get one each.
 */
public final class SymmetricMemory implements AutoCloseable {

  /** The number of channels unless another is given. */
  public static final int CHANNELS = 16;

  private final ProcessGroup group;
  private final int rank;
  private final long bytes;
  private final PadLayout layout;
  private final SharedMemory own;
  private final List<RankMemory> memories;
  private final Signals signals;
  private final LeasedMemory lease;
  private final AtomicLong copies = new AtomicLong();
  private volatile boolean closed;

  private SymmetricMemory(ProcessGroup group, long bytes, PadLayout layout, MemoryExchange made) {
    this.group = group;
    this.rank = group.rank();
    this.bytes = bytes;
    this.layout = layout;
    this.own = made.own();
    this.memories = made.opened();
    this.signals = new Signals(group, layout, memories, this::where);
    this.lease = new LeasedMemory(() -> memories.forEach(RankMemory::close));
  }

  /**
   * Makes the memory with {@link #CHANNELS} channels, see {@link #create(ProcessGroup, long, int)}.
   */
  public static SymmetricMemory create(ProcessGroup group, long bytes) {
    return create(group, bytes, CHANNELS);
  }

  /**
   * Makes the memory. A collective: called by all ranks of the group with the same sizes, and
   * blocks until all have it, for the group's timeout at the most.
   *
   * @param group whose ranks are all on one host, and which may use shared memory: {@code "shm"} is
   *     among its transports, as by default
   * @param bytes the size of each rank's buffer; 0 to nearly 2 GiB
   * @param channels the number of channels, 1 or more
   * @throws IllegalArgumentException on all ranks, if a size is wrong on one, or differs
   * @throws IllegalStateException on all ranks, if they are on several hosts; on the ranks that
   *     have no shared memory, or no room in it
   * @throws CollectiveException on the other ranks then
   */
  public static SymmetricMemory create(ProcessGroup group, long bytes, int channels) {
    if (group.localSize() < group.size()) {
      throw new IllegalStateException(
          "symmetric memory of group \""
              + group.name()
              + "\" on rank "
              + group.rank()
              + " of "
              + group.size()
              + ": the ranks are on several hosts, "
              + group.hosts()
              + "; make it in the group of one host, see newLocalGroup");
    }
    PadLayout layout = new PadLayout(group.size(), channels);
    long most = Integer.MAX_VALUE - 128 - Math.max(0, layout.begin());
    CallCheck check = new CallCheck(group, "making of symmetric memory");
    check.compare(
        () -> {
          String asked = bytes + " bytes and " + channels + " channels";
          if (bytes < 0 || channels < 1 || bytes > most) {
            throw new IllegalArgumentException(
                asked + "; give 0 to " + Math.max(0, most) + " bytes and at least one channel");
          }
          return List.of(asked);
        });
    MemoryExchange exchange = new MemoryExchange(group, check);
    exchange.run(layout.begin() + bytes);
    return new SymmetricMemory(group, bytes, layout, exchange);
  }

  /** Returns the size of each rank's buffer in bytes. */
  public long bytes() {
    return bytes;
  }

  /** Returns the number of channels. */
  public int channels() {
    return layout.channels();
  }

  /**
   * Returns a tensor of one dimension in the buffer of a rank, which it keeps mapped while it is
   * read or written. In this rank's own buffer it is as fast in collectives of the group as one of
   * {@link ProcessGroup#allocate}.
   *
   * @param owner the rank
   * @param dtype the type of the elements
   * @param offset where it begins, in bytes; a multiple of the size of an element
   * @param count the number of elements
   * @throws IllegalArgumentException if there is no such rank, or it is not all within the buffer
   * @throws IllegalStateException after {@link #close}, and so do the tensors then
   */
  public Tensor buffer(int owner, DType dtype, long offset, long count) {
    requireRank("buffer", owner);
    requireOpen("buffer");
    if (offset < 0
        || offset > bytes
        || count < 0
        || count > (bytes - offset) / dtype.bytes()
        || offset % dtype.bytes() != 0) {
      throw new IllegalArgumentException(
          where("buffer")
              + ": "
              + dtype.label()
              + " x "
              + count
              + " from byte "
              + offset
              + " on are not within the "
              + bytes
              + " bytes of rank "
              + owner
              + ", or do not begin at a multiple of "
              + dtype.bytes()
              + " bytes");
    }
    long at = layout.begin() + offset;
    return owner == rank
        ? own.tensor(dtype, at, count)
        : memories.get(owner).tensor(dtype, at, count);
  }

  /**
   * Waits until all ranks have come to the barrier of a channel, for the group's timeout at the
   * most.
   */
  public void barrier(int channel) {
    barrier(channel, group.timeout());
  }

  /**
   * Waits until all ranks have come to the barrier of a channel.
   *
   * @param channel from 0
   * @param timeout how long at the most
   */
  public void barrier(int channel, Duration timeout) {
    requireChannel("barrier", channel);
    using("barrier", () -> signals.barrier(channel, timeout));
  }

  /** Gives another rank a signal, and waits for the group's timeout at the most. */
  public void putSignal(int destination, int channel) {
    putSignal(destination, channel, group.timeout());
  }

  /**
   * Gives another rank a signal, after it has taken the one before of this rank on this channel.
   *
   * @param destination the rank, which may be this one
   * @param channel from 0
   * @param timeout how long to wait for that at the most
   */
  public void putSignal(int destination, int channel, Duration timeout) {
    requireRank("signal", destination);
    requireChannel("signal", channel);
    using("signal", () -> signals.put("signal", destination, channel, timeout));
  }

  /** Waits for a signal of another rank, for the group's timeout at the most, and takes it. */
  public void waitSignal(int source, int channel) {
    waitSignal(source, channel, group.timeout());
  }

  /**
   * Waits for a signal that another rank gives this one, and takes it.
   *
   * @param source the rank, which may be this one
   * @param channel from 0
   * @param timeout how long at the most
   */
  public void waitSignal(int source, int channel, Duration timeout) {
    requireRank("wait for a signal", source);
    requireChannel("wait for a signal", channel);
    using("wait for a signal", () -> signals.await(source, channel, timeout));
  }

  /**
   * Copies a tensor into the buffer of a rank.
   *
   * @param source in host memory
   * @param destination the rank
   * @param offset where it goes, in bytes; a multiple of the size of an element
   * @return a work that is done
   * @throws IllegalArgumentException if there is no such rank or place
   */
  public Work put(Tensor source, int destination, long offset) {
    buffer(destination, source.dtype(), offset, source.count()).copyFrom(source);
    return done(OpType.SEND, List.of());
  }

  /**
   * Copies from the buffer of a rank into a tensor.
   *
   * @param output in host memory
   * @param source the rank
   * @param offset where it begins there, in bytes; a multiple of the size of an element
   * @return a work that is done, with the output
   * @throws IllegalArgumentException if there is no such rank or place
   */
  public Work get(Tensor output, int source, long offset) {
    output.copyFrom(buffer(source, output.dtype(), offset, output.count()));
    return done(OpType.RECV, List.of(output));
  }

  /**
   * Unmaps the memory of all ranks in this process, as soon as no thread uses it: a thread that
   * waits in it throws {@link IllegalStateException}. Other ranks go on with what they have mapped,
   * and throw if they wait for this one. Idempotent, and does not block.
   */
  @Override
  public void close() {
    if (begin()) {
      try {
        closed = true;
        signals.close();
        own.close();
      } finally {
        lease.release();
      }
      lease.close();
    }
  }

  /** Runs what uses the flags, which stay mapped meanwhile. */
  private void using(String operation, Runnable body) {
    if (!begin()) {
      throw isClosed(operation);
    }
    try {
      body.run();
    } finally {
      lease.release();
    }
  }

  private boolean begin() {
    if (closed) {
      return false;
    }
    try {
      lease.acquire();
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  private Work done(OpType type, List<Tensor> outputs) {
    return Work.of(type, copies.getAndIncrement(), CompletableFuture.completedFuture(outputs));
  }

  private void requireOpen(String operation) {
    if (closed) {
      throw isClosed(operation);
    }
  }

  private IllegalStateException isClosed(String operation) {
    return new IllegalStateException(where(operation) + ": the memory is closed");
  }

  private void requireRank(String operation, int each) {
    if (each < 0 || each >= group.size()) {
      throw new IllegalArgumentException(
          where(operation) + ": there is no rank " + each + ", only 0 to " + (group.size() - 1));
    }
  }

  private void requireChannel(String operation, int channel) {
    if (channel < 0 || channel >= layout.channels()) {
      throw new IllegalArgumentException(
          where(operation)
              + ": there is no channel "
              + channel
              + ", only 0 to "
              + (layout.channels() - 1));
    }
  }

  private String where(String operation) {
    return operation
        + " of the symmetric memory of group \""
        + group.name()
        + "\" on rank "
        + rank
        + " of "
        + group.size();
  }
}
