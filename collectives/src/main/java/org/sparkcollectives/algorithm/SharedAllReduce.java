package org.sparkcollectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.SharedRegion;

/**
 * All-reduce in memory that all ranks see: the owner of a part reads it from all tensors and writes
 * the result to its own; the others copy it from there, tile by tile, while it is in the
 * processor's cache. Nobody writes to another rank's tensor.
 *
 * <p>Steps: 3 (all show, all parts are reduced, all are done). Bytes moved in memory by each rank:
 * its part, 1/n of the tensor, read from n tensors and written to one; the other parts, read and
 * written once.
 */
final class SharedAllReduce {

  void run(SharedRegion region, HostTensor tensor, ReduceKernel kernel) {
    kernel.premultiply(tensor, 0, tensor.count());
    region.show(List.of(tensor));
    new Run(region, tensor).run(kernel);
    region.finish();
  }

  private static final class Run {

    /** How much is reduced before the others are told. */
    private static final long STEP_BYTES = 64 << 10;

    /** What is copied between two looks at whether the group has failed. */
    private static final long PIECE_BYTES = 1 << 20;

    private final SharedRegion region;
    private final int rank;
    private final int n;
    private final long step;
    private final long piece;
    private final HostTensor own;

    /** For each distance from this rank on: the part that the other owns, here and there. */
    private final HostTensor[] to;

    private final HostTensor[] from;
    private final long[] copied;
    private final List<HostTensor> others;
    private long published;

    Run(SharedRegion region, HostTensor tensor) {
      this.region = region;
      this.rank = region.rank();
      this.n = region.size();
      this.step = STEP_BYTES / tensor.dtype().bytes();
      this.piece = PIECE_BYTES / tensor.dtype().bytes();
      this.own = Chunks.part(tensor, rank, n);
      this.to = new HostTensor[n];
      this.from = new HostTensor[n];
      this.copied = new long[n];
      this.others = new ArrayList<>(n - 1);
      for (int distance = 1; distance < n; distance++) {
        int peer = peer(distance);
        HostTensor theirs = region.shownBy(peer, 0, tensor.dtype(), tensor.count());
        to[distance] = Chunks.part(tensor, peer, n);
        from[distance] = Chunks.part(theirs, peer, n);
        others.add(Chunks.part(theirs, rank, n));
      }
    }

    private int peer(int distance) {
      return (rank + distance) % n;
    }

    void run(ReduceKernel kernel) {
      new TileReduction(kernel).run(own, own, others, this::reduced);
      for (int distance = 1; distance < n; distance++) {
        while (copied[distance] < to[distance].count()) {
          region.awaitPublished(peer(distance), copied[distance] + 1);
          copy(distance);
        }
      }
    }

    private void reduced(long offset, long count) {
      long reduced = offset + count;
      if (reduced - published >= step || reduced == own.count()) {
        published = reduced;
        region.publish(reduced);
        for (int distance = 1; distance < n; distance++) {
          copy(distance);
        }
      }
      region.check();
    }

    /** Copies what the owner of another part has reduced so far. */
    private void copy(int distance) {
      long there = Math.min(region.published(peer(distance)), to[distance].count());
      while (copied[distance] < there) {
        long count = Math.min(piece, there - copied[distance]);
        to[distance].copyFrom(copied[distance], from[distance], copied[distance], count);
        copied[distance] += count;
        region.check();
      }
    }
  }
}
