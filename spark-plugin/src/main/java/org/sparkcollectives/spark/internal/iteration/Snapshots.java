package org.sparkcollectives.spark.internal.iteration;

import java.util.List;
import java.util.Optional;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Keeps snapshots of rank 0 as checkpoints of the group.
 *
 * <p>A checkpoint is restored into tensors of known size, and a snapshot may have any. So its size
 * is in a checkpoint of its own, the head, which also says where the snapshot is: in one of two
 * places, in turn. If ranks are lost between the two checkpoints, the head still leads to the
 * snapshot before, which is in the other place.
 */
final class Snapshots<S> {

  private static final String HEAD = "iterations";

  private final ProcessGroup group;

  /** The iteration, the size of the snapshot in bytes, and its place. */
  private final long[] head = new long[3];

  Snapshots(ProcessGroup group) {
    this.group = group;
  }

  /**
   * Keeps a snapshot. A collective: blocks until it is kept.
   *
   * @param iteration that all ranks have done
   * @param atRoot the snapshot of rank 0; null elsewhere
   */
  void save(int iteration, Snapshot<S> atRoot) {
    byte[] bytes = group.rank() == 0 ? JavaBytes.of(atRoot) : new byte[0];
    long place = 1 - head[2];
    group.checkpoint(place(place), List.of(Tensor.of(bytes)));
    head[0] = iteration;
    head[1] = bytes.length;
    head[2] = place;
    group.checkpoint(HEAD, List.of(Tensor.of(head)));
  }

  /**
   * Returns the last snapshot that was kept. A collective: blocks until all ranks know of it.
   *
   * @return empty on all ranks if there is none
   */
  Optional<Restored<S>> restore() {
    if (!group.restore(HEAD, List.of(Tensor.of(head)))) {
      return Optional.empty();
    }
    byte[] bytes = new byte[(int) head[1]];
    if (!group.restore(place(head[2]), List.of(Tensor.of(bytes)))) {
      throw new IllegalStateException(
          "The checkpoint of iteration " + head[0] + " is not where its head says");
    }
    Snapshot<S> atRoot = group.rank() == 0 ? JavaBytes.read(bytes) : null;
    return Optional.of(new Restored<>((int) head[0], atRoot));
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
