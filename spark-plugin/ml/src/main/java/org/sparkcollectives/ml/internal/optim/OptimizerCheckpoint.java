package org.sparkcollectives.ml.internal.optim;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * The checkpoints of a minimisation: rank 0 keeps the optimizer's state, so that the ranks that
 * start again after the loss of an executor go on from there, to the same coefficients.
 *
 * <p>A checkpoint is restored into a tensor of its size, and the size grows with the history of the
 * optimizer. So the states are kept in tensors of a power of two bytes, whose size is in their
 * name; which size came last is kept after them, in a checkpoint of its own.
 */
final class OptimizerCheckpoint {

  /** Larger states are not kept: they cost more than the iterations that they save. */
  static final int MAX_BYTES = 16 << 20;

  /** A checkpoint takes no more than this part of the time. */
  private static final int SHARE = 20;

  private static final String SIZE = "ml.optimizer.size";
  private static final String STATE = "ml.optimizer.state.";

  private final ProcessGroup world;
  private final boolean root;
  private final long intervalNanos;
  private long lastEnd = System.nanoTime();
  private long lastCost;
  private int capacity;
  private boolean tooLarge;

  OptimizerCheckpoint(ProcessGroup world, Duration interval) {
    this.world = world;
    this.root = world.rank() == 0;
    this.intervalNanos = interval.toNanos();
  }

  /** Returns whether rank 0 should keep the state now. */
  boolean isDue() {
    long since = System.nanoTime() - lastEnd;
    return !tooLarge && since >= intervalNanos && since >= SHARE * lastCost;
  }

  /**
   * Keeps a state. Called by rank 0, while the others call {@link #assist}.
   *
   * @param announce tells the others; called if the state is not too large
   */
  void keep(OptimizerState state, Runnable announce) {
    long began = System.nanoTime();
    byte[] bytes = state.toBytes();
    if (bytes.length + Integer.BYTES > MAX_BYTES) {
      tooLarge = true;
      return;
    }
    announce.run();
    int needed = Integer.highestOneBit(bytes.length + Integer.BYTES - 1) << 1;
    byte[] padded = ByteBuffer.allocate(needed).putInt(bytes.length).put(bytes).array();
    keep(needed, List.of(Tensor.of(padded)));
    lastEnd = System.nanoTime();
    lastCost = lastEnd - began;
  }

  /** Takes part in what rank 0 keeps. */
  void assist() {
    keep(0, List.of());
  }

  private void keep(int bytes, List<Tensor> state) {
    long[] size = {bytes};
    world.broadcast(Tensor.of(size), 0).await();
    world.checkpoint(STATE + size[0], state);
    if (size[0] != capacity) {
      world.checkpointReplicated(SIZE, List.of(Tensor.of(size)));
      capacity = (int) size[0];
    }
  }

  /** Returns on rank 0 what an earlier attempt has kept. A collective: called by all ranks. */
  Optional<OptimizerState> restore() {
    long[] size = new long[1];
    if (!world.restore(SIZE, List.of(Tensor.of(size)))) {
      return Optional.empty();
    }
    capacity = (int) size[0];
    byte[] padded = new byte[root ? capacity : 0];
    if (!world.restore(STATE + capacity, root ? List.of(Tensor.of(padded)) : List.of())) {
      return Optional.empty();
    }
    if (!root) {
      return Optional.empty();
    }
    int length = ByteBuffer.wrap(padded).getInt();
    return Optional.of(
        OptimizerState.of(Arrays.copyOfRange(padded, Integer.BYTES, Integer.BYTES + length)));
  }
}
