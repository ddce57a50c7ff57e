package org.sparkcollectives.transport;

import org.sparkcollectives.DType;
import org.sparkcollectives.tensor.HostTensor;

/**
 * Memory that all ranks of a group see, through which tensors that lie elsewhere pass in chunks:
 * each rank has room for a few, which it uses in turn.
 *
 * <p>For each chunk a rank says when it has given its part, has reduced what is its to reduce, and
 * has taken what it needs; it must have said all three before the operation ends. In what order,
 * and how far ahead of each other, is the algorithm's to say: it may give a chunk only when all
 * have taken the one that was in the same room, {@link #depth()} chunks before.
 *
 * <p>Chunks are numbered from 0 in each operation. Only the thread that runs the group's current
 * operation may use this. {@link #await} throws what {@link Cancellation#check} throws once the
 * group has failed.
 */
public interface SharedStaging {

  /** What a rank has done with a chunk. */
  enum Phase {
    /** Its own part is in its room. */
    GIVEN,
    /** What it has reduced is in its room. */
    REDUCED,
    /** It looks at nobody's room any more. */
    TAKEN
  }

  /** This rank. */
  int rank();

  /** The number of ranks. */
  int size();

  /** The room for one chunk; a multiple of the size of every type. */
  int chunkBytes();

  /** How many chunks of a rank have room at a time. */
  int depth();

  /**
   * Where a rank's part of a chunk lies, this rank's own included.
   *
   * @return all of the room, as elements of {@code dtype}
   */
  HostTensor room(int rank, long chunk, DType dtype);

  /** Says that this rank is so far with a chunk, and with all before it. */
  void reached(Phase phase, long chunk);

  /** Waits until a rank is so far with a chunk; at once for those before the first. */
  void await(int rank, Phase phase, long chunk);

  /** Ends the operation after so many chunks, for this rank; the next begins with other rooms. */
  void finish(long chunks);
}
