package org.sparkcollectives.object;

import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * The first frames of all ranks' objects, which are gathered in one operation. For small objects
 * there are no others.
 *
 * @param frames one after the other, in rank order
 * @param gathered which has ended
 */
record FirstFrames(Tensor frames, Work gathered) {

  /** Memory for the first frames of some ranks. */
  static Tensor memoryFor(int ranks) {
    return Tensor.allocate(DType.INT8, (long) ranks * Frame.FIRST_BYTES);
  }

  /** The part of {@code frames} that belongs to a rank. */
  static Tensor part(Tensor frames, int rank) {
    return frames.slice((long) rank * Frame.FIRST_BYTES, Frame.FIRST_BYTES);
  }

  /** The frames of one rank, of which the later ones come on their own. */
  FrameInput.Path then(int source, FrameInput.Path later) {
    return (index, frame) -> {
      if (index > 0) {
        return later.receive(index, frame);
      }
      frame.copyFrom(part(frames, source));
      return gathered;
    };
  }
}
