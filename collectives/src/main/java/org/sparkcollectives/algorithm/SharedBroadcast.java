package org.sparkcollectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.SharedRegion;

/**
 * Broadcast in memory that all ranks see: each rank copies the root's tensor. Where the ranks see
 * each other's tensors, too, each copies a part of a large one to all of them, the root as well.
 *
 * <p>Steps: 2 (all show, all are done), for ranks other than the root 1 unless all copy for all.
 * Bytes moved in memory by each rank but the root: the tensor, read and written once; where all
 * copy for all by each rank: 1/n of the tensor, read once and written n-1 times.
 */
final class SharedBroadcast {

  /** What one rank has copied before the others have come to help. */
  private static final long LARGEST_ALONE_BYTES = 256 << 10;

  private static final long PIECE_BYTES = 64 << 10;

  /** Copies what the root shows; the others' tensors may be where nobody sees them. */
  void run(SharedRegion region, HostTensor tensor, int root) {
    boolean atRoot = region.rank() == root;
    region.show(atRoot ? List.of(tensor) : List.of());
    if (atRoot) {
      region.finish();
    } else {
      SharedCopy.copy(region, tensor, region.shownBy(root, 0, tensor.dtype(), tensor.count()));
      region.leave();
    }
  }

  /** Where all ranks see all tensors. */
  void runWhereAllIsSeen(SharedRegion region, HostTensor tensor, int root) {
    if (tensor.byteSize() <= LARGEST_ALONE_BYTES) {
      run(region, tensor, root);
      return;
    }
    region.show(List.of(tensor));
    int rank = region.rank();
    int n = region.size();
    HostTensor from = partShownBy(region, root, tensor);
    List<HostTensor> copies = new ArrayList<>(n - 1);
    // Each begins with its own, so that not all write to one rank's memory at the same time.
    for (int distance = 0; distance < n; distance++) {
      HostTensor copy = partShownBy(region, (rank + distance) % n, tensor);
      if (!copy.isSameMemoryAs(from)) {
        copies.add(copy);
      }
    }
    long piece = PIECE_BYTES / tensor.dtype().bytes();
    for (long offset = 0; offset < from.count(); offset += piece) {
      for (HostTensor copy : copies) {
        copy.copyFrom(offset, from, offset, Math.min(piece, from.count() - offset));
      }
      region.check();
    }
    region.finish();
  }

  /** The part of a rank's tensor that this rank writes. */
  private static HostTensor partShownBy(SharedRegion region, int peer, HostTensor tensor) {
    HostTensor shown = region.shownBy(peer, 0, tensor.dtype(), tensor.count());
    return Chunks.part(shown, region.rank(), region.size());
  }
}
