package org.sparkcollectives.internal.transport;

import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Memory that all ranks of a group see, through which tensors that lie elsewhere pass in chunks:
 * each rank has a few staging buffers, which it uses in turn.
 *
 * <p>For each chunk a rank says when it has copied its part in, has reduced what is its to reduce,
 * and has copied out what it needs; it must have said all three before the operation ends. The
 * algorithm decides in what order, and how far ahead of each other: it may copy a chunk in only
 * when all have copied out the one that was in the same buffer, {@link #depth()} chunks before.
 *
 * <p>Chunks are numbered from 0 in each operation. Only the thread that runs the group's current
 * operation may use this. {@link #await} throws what {@link Cancellation#check} throws once the
 * group has failed.
 */
public interface SharedStaging {

  /** The last step that a rank has done with a chunk. */
  enum Phase {
    /** Its own part is in its buffer. */
    COPIED_IN,
    /** Its reduced part is in its buffer. */
    REDUCED,
    /** It has read all buffers that it needs. */
    COPIED_OUT
  }

  /** Returns this rank. */
  int rank();

  /** Returns the number of ranks. */
  int size();

  /** Returns the size of one buffer; a multiple of the size of every type. */
  int chunkBytes();

  /** Returns how many buffers each rank has. */
  int depth();

  /**
   * Returns the buffer in which a rank's part of a chunk lies, this rank's own included.
   *
   * @return all of the buffer, as elements of {@code dtype}
   */
  HostTensor buffer(int rank, long chunk, DType dtype);

  /** Publishes that this rank has reached a phase of a chunk, and of all chunks before it. */
  void reached(Phase phase, long chunk);

  /** Waits until a rank has reached a phase of a chunk; returns at once for a negative chunk. */
  void await(int rank, Phase phase, long chunk);

  /** Ends the operation after so many chunks, for this rank; the next begins with other buffers. */
  void finish(long chunks);
}
