package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Slices of a tensor, one for each cross-node group of a {@link Hierarchy}, or fewer where it is
 * short.
 */
final class Slices {

  /** Shorter ones would cost more messages than they save bytes. */
  private static final long SHORTEST_BYTES = 16 << 10;

  private Slices() {}

  /** Returns how many a tensor of so many bytes is cut in; the same on all ranks. */
  static int count(Locality locality, long bytes) {
    return (int) Math.max(1, Math.min(locality.smallest(), bytes / SHORTEST_BYTES));
  }

  /**
   * Returns the slices that the ranks of this node own, in the order of these ranks; those that own
   * none have an empty one.
   */
  static Chunks of(Hierarchy hierarchy, HostTensor tensor, int root) {
    return of(hierarchy, tensor, root, count(hierarchy.locality(), tensor.byteSize()));
  }

  /** Returns them where the tensor is cut in {@code count}. */
  static Chunks of(Hierarchy hierarchy, HostTensor tensor, int root, int count) {
    HostTensor[] owned = new HostTensor[hierarchy.intraNode().size()];
    for (int index = 0; index < owned.length; index++) {
      int group = hierarchy.crossNodeGroup(index, root);
      owned[index] = group < count ? Chunks.part(tensor, group, count) : tensor.slice(0, 0);
    }
    return Chunks.ofParts(owned);
  }

  /** Returns whether this rank owns one. */
  static boolean isOwner(Hierarchy hierarchy, HostTensor tensor, int root) {
    return hierarchy.ownCrossNodeGroup(root) < count(hierarchy.locality(), tensor.byteSize());
  }
}
