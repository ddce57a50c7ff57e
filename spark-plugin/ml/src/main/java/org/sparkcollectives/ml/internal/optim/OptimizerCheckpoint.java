package org.sparkcollectives.ml.internal.optim;

import breeze.optimize.FirstOrderMinimizer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * The checkpoints of a minimisation: rank 0 keeps the optimizer's state, so that the ranks that
 * start again after the loss of an executor go on from there, to the same coefficients.
 *
 * <p>A checkpoint is restored into a tensor of its size, and the size grows with the history of the
 * optimizer. So the states are kept in tensors of a power of two bytes, whose size is in their
 * name; which size came last is kept after them, in a checkpoint of its own.
 *
 * <p>A checkpoint that cannot be kept or restored costs a line in the log, and never the fit.
 */
final class OptimizerCheckpoint {

  /** Larger states are not kept: they cost more than the iterations that they save. */
  static final int MAX_BYTES = 16 << 20;

  /** A checkpoint takes no more than this part of the time. */
  private static final int SHARE = 20;

  private static final String SIZE = "ml.optimizer.size";
  private static final String STATE = "ml.optimizer.state.";

  private static final Logger LOG = LoggerFactory.getLogger(OptimizerCheckpoint.class);

  private final ProcessGroup world;
  private final FirstOrderMinimizer<?, ?> optimizer;
  private final boolean root;
  private final long intervalNanos;
  private long lastEnd = System.nanoTime();
  private long lastCost;
  private int capacity;
  private boolean tooLarge;
  private boolean failed;

  /**
   * Creates the checkpoints.
   *
   * @param optimizer whose state they are
   * @param interval between two of them at least; zero for one after each iteration
   */
  OptimizerCheckpoint(ProcessGroup world, FirstOrderMinimizer<?, ?> optimizer, Duration interval) {
    this.world = world;
    this.optimizer = optimizer;
    this.root = world.rank() == 0;
    this.intervalNanos = interval.toNanos();
  }

  /** Returns whether rank 0 should keep the state now. */
  boolean isDue() {
    long since = System.nanoTime() - lastEnd;
    return !tooLarge && since >= intervalNanos && (intervalNanos == 0 || since >= SHARE * lastCost);
  }

  /**
   * Keeps a state. Called by rank 0, while the others call {@link #assist}.
   *
   * @param announce tells the others; called if the state is not too large
   */
  void keep(OptimizerState state, Runnable announce) {
    long began = System.nanoTime();
    Optional<byte[]> written = bytes(state);
    if (written.isPresent()) {
      announce.run();
      byte[] bytes = written.get();
      int needed = Integer.highestOneBit(bytes.length + Integer.BYTES - 1) << 1;
      byte[] padded = ByteBuffer.allocate(needed).putInt(bytes.length).put(bytes).array();
      keep(needed, List.of(Tensor.of(padded)));
    }
    lastEnd = System.nanoTime();
    lastCost = lastEnd - began;
  }

  /** Returns the state as bytes; empty if they are too many, or if it cannot be written. */
  private Optional<byte[]> bytes(OptimizerState state) {
    try {
      Optional<byte[]> bytes = state.toBytes(MAX_BYTES - Integer.BYTES);
      tooLarge = bytes.isEmpty();
      return bytes;
    } catch (RuntimeException | StackOverflowError | LinkageError e) {
      goOnWithout("kept", e);
      return Optional.empty();
    }
  }

  /** Takes part in what rank 0 keeps. */
  void assist() {
    keep(0, List.of());
  }

  private void keep(int bytes, List<Tensor> state) {
    long[] size = {bytes};
    world.broadcast(Tensor.of(size), 0).await();
    try {
      world.checkpoint(STATE + size[0], state);
      if (size[0] != capacity) {
        world.checkpointReplicated(SIZE, List.of(Tensor.of(size)));
        capacity = (int) size[0];
      }
    } catch (CollectiveException e) {
      requireGroup(e);
      goOnWithout("kept", e);
    }
  }

  /**
   * Returns on rank 0 what an earlier attempt has kept; empty if that is nothing, or if it cannot
   * be read. A collective: called by all ranks.
   */
  Optional<OptimizerState> restore() {
    try {
      return read();
    } catch (CollectiveException e) {
      requireGroup(e);
      goOnWithout("restored, and the fit begins anew", e);
      return Optional.empty();
    }
  }

  private Optional<OptimizerState> read() {
    long[] size = new long[1];
    if (!world.restore(SIZE, List.of(Tensor.of(size)))) {
      return Optional.empty();
    }
    capacity = (int) size[0];
    byte[] padded = new byte[root ? capacity : 0];
    boolean found = world.restore(STATE + capacity, root ? List.of(Tensor.of(padded)) : List.of());
    if (!found || !root) {
      return Optional.empty();
    }
    int length = ByteBuffer.wrap(padded).getInt();
    byte[] bytes = Arrays.copyOfRange(padded, Integer.BYTES, Integer.BYTES + length);
    try {
      return Optional.of(OptimizerState.of(bytes, optimizer));
    } catch (RuntimeException | StackOverflowError | LinkageError e) {
      goOnWithout("restored, and the fit begins anew", e);
      return Optional.empty();
    }
  }

  /**
   * Throws a failure of the group. If the store has refused, all ranks know, and the group goes on.
   */
  private static void requireGroup(CollectiveException failure) {
    if (failure.getClass() != CollectiveException.class) {
      throw failure;
    }
  }

  /** Logs the first time that a checkpoint fails; the fit that it would have protected goes on. */
  private void goOnWithout(String what, Throwable cause) {
    if (root && !failed) {
      LOG.warn("A checkpoint of the fit could not be {}. The fit goes on", what, cause);
    }
    failed = true;
  }
}
