package org.sparkcollectives.recorder;

import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;

/** What a recorder keeps of a call. It must not hold the tensors: a record outlives them. */
public interface RecordedOperation {

  /** The operation. */
  OpType type();

  /** The type of the elements; null of a barrier. */
  DType dtype();

  /** The number of elements given. */
  long inputCount();

  /** The number of elements expected. */
  long outputCount();

  /** The shapes of the tensors. */
  default RecordedShapes shapes() {
    return RecordedShapes.ofCounts(inputCount(), outputCount());
  }

  /** The number of elements on which all ranks must agree; 0 where it may differ. */
  long agreedCount();

  /** The reduction, root, peer and tag, as far as the operation has them. */
  String particulars();
}
