package org.sparkcollectives.internal.object;

import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * The first frames of all ranks' objects, which are gathered in one operation. Small objects have
 * no other frames.
 *
 * @param frames one after the other, in rank order
 * @param gathered which has ended
 */
record FirstFrames(Tensor frames, Work gathered) {

  /** Returns memory for the first frames of some ranks. */
  static Tensor memoryFor(int ranks) {
    return Tensor.allocate(DType.INT8, (long) ranks * Frame.FIRST_BYTES);
  }

  /** Returns the part of {@code frames} that belongs to a rank. */
  static Tensor part(Tensor frames, int rank) {
    return frames.slice((long) rank * Frame.FIRST_BYTES, Frame.FIRST_BYTES);
  }

  /** Returns the path of one rank's frames, of which all but the first come over {@code later}. */
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
