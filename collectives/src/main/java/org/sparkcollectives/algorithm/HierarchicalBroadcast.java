package org.sparkcollectives.algorithm;

import java.util.List;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Locality;
import org.sparkcollectives.transport.Peers;

/**
 * Hierarchical broadcast: scatter of the slices inside the root's place, broadcast of each slice
 * across places, all-gather inside the others; the root's place takes the tensor from the root. Of
 * a tensor in one slice only the root sends across.
 *
 * <p>Steps: those of a broadcast of one slice across, and inside 2 waits for all (show, done), in
 * the root's place 3 where there are several slices. Bytes sent across by each rank: those of a
 * broadcast of one slice. Bytes moved in memory by each rank but the root: the tensor, read and
 * written once.
 */
final class HierarchicalBroadcast {

  private final AlgorithmSelector phases;

  HierarchicalBroadcast(AlgorithmSelector phases) {
    this.phases = phases;
  }

  void run(Hierarchy hierarchy, int rank, HostTensor tensor, int root) {
    Locality locality = hierarchy.locality();
    boolean withRoot = locality.place(rank) == locality.place(root);
    Peers inside = hierarchy.inside();
    Chunks slices = Slices.inside(hierarchy, tensor, root);
    HostTensor own = slices.at(inside.rank());
    boolean whole = Slices.count(locality, tensor.byteSize()) == 1;
    if (withRoot && !whole) {
      List<HostTensor> given = rank == root ? slices.all() : List.of();
      phases.scatter(hierarchy.opening(), own, given, locality.index(root));
    }
    if (Slices.isOwner(hierarchy, tensor, root)) {
      phases.broadcast(hierarchy.across(root), own, locality.place(root));
    }
    if (withRoot) {
      phases.broadcast(inside, tensor, locality.index(root));
    } else if (whole) {
      phases.broadcast(inside, tensor, 0);
    } else {
      phases.allGather(inside, slices, own);
    }
  }
}
