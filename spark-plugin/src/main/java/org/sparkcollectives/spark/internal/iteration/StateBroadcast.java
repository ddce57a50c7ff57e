package org.sparkcollectives.spark.internal.iteration;

import org.sparkcollectives.DType;
import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Gives all ranks the state of rank 0, or tells them that there is none any more.
 *
 * @param <S> the type of the state
 */
interface StateBroadcast<S> {

  /**
   * Returns what rank 0 gives. Blocks until this rank has it.
   *
   * @param state at rank 0 the state, or null for the end; elsewhere ignored
   * @return at rank 0 {@code state} itself; elsewhere valid until the next call
   */
  S run(S state);

  /** Returns the fastest way for states like this one. */
  @SuppressWarnings("unchecked")
  static <S> StateBroadcast<S> of(ProcessGroup group, S initial) {
    return initial instanceof double[] numbers
        ? (StateBroadcast<S>) new Numbers(group, numbers.length)
        : state -> group.objects().broadcast(state, 0);
  }

  /** Broadcasts arrays of one length, behind a number that tells whether there is a state. */
  final class Numbers implements StateBroadcast<double[]> {

    private final boolean isRoot;
    private final int length;
    private final double[] there = new double[1];
    private final Tensor message;
    private final PersistentCollective broadcast;
    private final double[] received;

    private Numbers(ProcessGroup group, int length) {
      this.isRoot = group.rank() == 0;
      this.length = length;
      this.message = group.allocate(DType.FLOAT64, 1L + length);
      this.broadcast = group.broadcastInit(message, 0);
      this.received = new double[isRoot ? 0 : length];
    }

    @Override
    public double[] run(double[] state) {
      if (isRoot) {
        there[0] = state == null ? 0 : 1;
        message.slice(0, 1).copyFrom(there);
        if (state != null) {
          message.slice(1, length).copyFrom(state);
        }
      }
      broadcast.start().await();
      if (isRoot) {
        return state;
      }
      message.slice(0, 1).copyTo(there);
      if (there[0] == 0) {
        return null;
      }
      message.slice(1, length).copyTo(received);
      return received;
    }
  }
}
