package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.BitSet;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * Lets all ranks know at the end of a step whether one of them could not finish it, and which
 * parameters any of them has used: one bit each, in one all-reduce.
 */
final class StepAgreement {

  private final byte[] bits;
  private final Work work;

  private StepAgreement(byte[] bits, Work work) {
    this.bits = bits;
    this.work = work;
  }

  /** Tells the other ranks, without waiting for them. */
  static StepAgreement begin(ProcessGroup group, int parameters, boolean failed, BitSet used) {
    BitSet set = new BitSet();
    set.set(0, failed);
    used.stream().forEach(parameter -> set.set(parameter + 1));
    byte[] bits = Arrays.copyOf(set.toByteArray(), parameters / Byte.SIZE + 1);
    Tensor tensor = Tensor.wrap(DType.UINT8, bits);
    return new StepAgreement(bits, group.allReduce(tensor, ReduceOp.BOR));
  }

  /** Returns whether a rank could not finish the step; waits for all. */
  boolean failed() {
    work.await();
    return BitSet.valueOf(bits).get(0);
  }

  /** Returns the parameters that any rank has used; waits for all. */
  BitSet used() {
    work.await();
    BitSet set = BitSet.valueOf(bits);
    return set.get(1, Math.max(1, set.length()));
  }
}
