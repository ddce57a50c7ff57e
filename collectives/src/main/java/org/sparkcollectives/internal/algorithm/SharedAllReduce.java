package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * All-reduce in memory that all ranks see: the owner of a part reads it from all tensors. In one
 * JVM it writes the result to all. A rank must not write to another process's tensor; there the
 * owner writes it to its own, block by block, and the others copy each block one block later, so
 * that they seldom wait for it, and find it in the cache.
 *
 * <p>Steps: 2 (all publish, all are done); where the others copy, 3. Bytes moved in memory by each
 * rank: its part, 1/n of the tensor, read from n tensors and written to n; where the others copy,
 * written to one, and the other parts, read and written once.
 */
final class SharedAllReduce implements Algorithm<Call.AllReduce> {

  private static final long BLOCK_BYTES = 256 << 10;

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    SharedRegion region = peers.memory().region();
    HostTensor tensor = call.tensor();
    ReduceKernel kernel = call.kernel();
    kernel.premultiply(tensor, 0, tensor.count());
    region.publish(List.of(tensor));
    Run run = new Run(region, tensor, new TileReduction(kernel));
    if (region.mayWriteToOthers()) {
      run.writeToAll();
    } else {
      run.copyFromOwners();
    }
    region.finish();
  }

  private static final class Run {

    private final SharedRegion region;
    private final int n;
    private final long block;
    private final TileReduction tiles;

    /** This rank's part of its own tensor, and of each other's, beginning with the next rank's. */
    private final HostTensor own;

    private final List<HostTensor> others = new ArrayList<>();

    /** The parts that the other ranks reduce: where they are needed here, and where they are. */
    private final List<HostTensor> to = new ArrayList<>();

    private final List<HostTensor> from = new ArrayList<>();

    Run(SharedRegion region, HostTensor tensor, TileReduction tiles) {
      this.region = region;
      this.n = region.size();
      this.block = BLOCK_BYTES / tensor.dtype().bytes();
      this.tiles = tiles;
      this.own = Chunks.part(tensor, region.rank(), n);
      for (int distance = 1; distance < n; distance++) {
        int peer = peer(distance);
        HostTensor theirs = region.publishedBy(peer, 0, tensor.dtype(), tensor.count());
        others.add(Chunks.part(theirs, region.rank(), n));
        to.add(Chunks.part(tensor, peer, n));
        from.add(Chunks.part(theirs, peer, n));
      }
    }

    private int peer(int distance) {
      return (region.rank() + distance) % n;
    }

    void writeToAll() {
      tiles.run(
          own,
          own,
          others,
          (offset, count) -> {
            for (HostTensor other : others) {
              other.copyFrom(offset, own, offset, count);
            }
            region.check();
          });
    }

    void copyFromOwners() {
      long longest =
          Math.max(own.count(), to.stream().mapToLong(HostTensor::count).max().orElse(0));
      for (long offset = 0; offset < longest + block; offset += block) {
        reduce(offset);
        copy(offset - block);
      }
    }

    private void reduce(long offset) {
      long count = Math.min(block, own.count() - offset);
      if (count > 0) {
        HostTensor mine = own.slice(offset, count);
        List<HostTensor> theirs = new ArrayList<>(n - 1);
        for (HostTensor other : others) {
          theirs.add(other.slice(offset, count));
        }
        tiles.run(mine, mine, theirs, (tile, size) -> region.check());
        region.publishProgress(offset + count);
      }
    }

    private void copy(long offset) {
      for (int distance = 1; offset >= 0 && distance < n; distance++) {
        HostTensor part = to.get(distance - 1);
        long count = Math.min(block, part.count() - offset);
        if (count > 0) {
          region.awaitProgress(peer(distance), offset + count);
          part.copyFrom(offset, from.get(distance - 1), offset, count);
          region.check();
        }
      }
    }
  }
}
