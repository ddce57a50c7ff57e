package org.sparkcollectives.spark.internal.iteration;

import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Keeps snapshots of rank 0 as checkpoints of the group.
 *
 * <p>A checkpoint is restored into tensors of known size, and a snapshot may have any. So its size
 * is in a checkpoint of its own, the head, which also says where the snapshot is: in one of two
 * places, in turn. If ranks are lost between the two checkpoints, the head still leads to the
 * snapshot before, which is in the other place.
 *
 * <p>A snapshot that cannot be kept or restored costs a line in the log, and never the iterations.
 */
final class Snapshots<S> {

  private static final String HEAD = "iterations";
  private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

  private final ProcessGroup group;

  /** The iteration, the size of the snapshot in bytes, and its place. */
  private final long[] head = new long[3];

  private boolean failed;

  Snapshots(ProcessGroup group) {
    this.group = group;
  }

  /**
   * Keeps a snapshot. A collective: blocks until it is kept, or until all ranks know that it cannot
   * be; then one before it stays.
   *
   * @param iteration that all ranks have done
   * @param atRoot the snapshot of rank 0; null elsewhere
   */
  void save(int iteration, Snapshot<S> atRoot) {
    Optional<byte[]> written = group.rank() == 0 ? bytes(atRoot) : Optional.of(new byte[0]);
    byte[] bytes = written.orElse(new byte[0]);
    if (!ofRoot(written.isPresent())) {
      return;
    }
    long[] next = {iteration, bytes.length, 1 - head[2]};
    try {
      group.checkpoint(place(next[2]), List.of(Tensor.of(bytes)));
      group.checkpoint(HEAD, List.of(Tensor.of(next)));
      System.arraycopy(next, 0, head, 0, head.length);
    } catch (CollectiveException e) {
      requireGroup(e);
      goOnWithout("kept", e);
    }
  }

  private Optional<byte[]> bytes(Snapshot<S> snapshot) {
    try {
      return Optional.of(JavaBytes.of(snapshot));
    } catch (Throwable e) { // Also checked ones, which Scala does not declare.
      goOnWithout("kept", ofState(e));
      return Optional.empty();
    }
  }

  private Optional<Snapshot<S>> snapshot(byte[] bytes) {
    try {
      return Optional.of(JavaBytes.read(bytes));
    } catch (Throwable e) {
      goOnWithout("restored, and the iterations begin anew", ofState(e));
      return Optional.empty();
    }
  }

  /** Returns what the state may have thrown; throws what ends the process. */
  private static Throwable ofState(Throwable thrown) {
    if (thrown instanceof VirtualMachineError error && !(error instanceof StackOverflowError)) {
      throw error;
    }
    return thrown;
  }

  /** Returns what holds at rank 0. A collective. */
  private boolean ofRoot(boolean holds) {
    double[] answer = {holds ? 1 : 0};
    group.broadcast(Tensor.of(answer), 0).await();
    return answer[0] != 0;
  }

  /**
   * Returns the last snapshot that was kept. A collective: blocks until all ranks know of it.
   *
   * @return empty on all ranks if there is none, or if it cannot be read
   */
  Optional<Restored<S>> restore() {
    try {
      return read();
    } catch (CollectiveException e) {
      requireGroup(e);
      // The head stays as it was read: what it names is not overwritten before there is a next one.
      goOnWithout("restored, and the iterations begin anew", e);
      return Optional.empty();
    }
  }

  private Optional<Restored<S>> read() {
    if (!group.restore(HEAD, List.of(Tensor.of(head)))) {
      return Optional.empty();
    }
    byte[] bytes = new byte[(int) head[1]];
    if (!group.restore(place(head[2]), List.of(Tensor.of(bytes)))) {
      throw new CollectiveException(
          "The checkpoint of iteration " + head[0] + " is not where its head says");
    }
    Optional<Snapshot<S>> atRoot = group.rank() == 0 ? snapshot(bytes) : Optional.empty();
    return ofRoot(atRoot.isPresent())
        ? Optional.of(new Restored<>((int) head[0], atRoot.orElse(null)))
        : Optional.empty();
  }

  /**
   * Throws a failure of the group. If the store has refused, all ranks know, and the group goes on.
   */
  private static void requireGroup(CollectiveException failure) {
    if (failure.getClass() != CollectiveException.class) {
      throw failure;
    }
  }

  /** Logs the first time that a checkpoint fails; what it would have protected goes on. */
  private void goOnWithout(String what, Throwable cause) {
    if (group.rank() == 0 && !failed) {
      LOG.warn("A checkpoint of the iterations could not be {}. They go on", what, cause);
    }
    failed = true;
  }

  private static String place(long place) {
    return HEAD + "/" + place;
  }

  /**
   * What was restored.
   *
   * @param iteration the last one that was done
   * @param atRoot the snapshot of rank 0; null elsewhere
   */
  record Restored<S>(int iteration, Snapshot<S> atRoot) {}
}
