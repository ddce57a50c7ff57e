package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * All-reduce in memory that all ranks see: the owner of a part reads it from all tensors, and
 * writes the result to its own tensor and to those of the others. To the tensor of another process
 * it writes only if that is scratch memory. Otherwise the other rank copies the result: a block
 * that is there after each block of its own, while it is in the cache, and the rest at the end.
 * Until then it waits for nobody, so that a rank which loses its processor for a moment does not
 * stop the others.
 *
 * <p>Steps: 2 (all publish, all are done); where ranks copy, 3. Bytes moved in memory by each rank:
 * its part, 1/n of the tensor, read from n tensors and written to n; if the ranks copy, written to
 * one, and the other parts, read and written once.
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
    new Run(region, tensor, new TileReduction(kernel)).run();
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

    /** This rank's part of those tensors of others to which it writes the result. */
    private final List<HostTensor> written = new ArrayList<>();

    /** Whether this rank copies what the others have reduced. */
    private final boolean copies;

    /** The parts that the other ranks reduce, if this rank copies them. */
    private final List<Copied> copied = new ArrayList<>();

    Run(SharedRegion region, HostTensor tensor, TileReduction tiles) {
      this.region = region;
      this.n = region.size();
      this.block = BLOCK_BYTES / tensor.dtype().bytes();
      this.tiles = tiles;
      this.own = Chunks.part(tensor, region.rank(), n);
      this.copies = !region.mayWriteTo(region.rank(), 0);
      for (int distance = 1; distance < n; distance++) {
        int peer = peer(distance);
        HostTensor theirs = region.publishedBy(peer, 0, tensor.dtype(), tensor.count());
        HostTensor part = Chunks.part(theirs, region.rank(), n);
        others.add(part);
        if (region.mayWriteTo(peer, 0)) {
          written.add(part);
        }
        if (copies) {
          copied.add(new Copied(peer, Chunks.part(tensor, peer, n), Chunks.part(theirs, peer, n)));
        }
      }
    }

    private int peer(int distance) {
      return (region.rank() + distance) % n;
    }

    void run() {
      boolean someCopy = copies || written.size() < others.size();
      if (!someCopy) {
        reduce(own, others, written);
        return;
      }
      for (long offset = 0; offset < own.count(); offset += block) {
        reduceBlock(offset);
        for (Copied part : copied) {
          part.copyIfThere();
        }
      }
      for (Copied part : copied) {
        part.copyRest();
      }
    }

    private void reduce(HostTensor mine, List<HostTensor> theirs, List<HostTensor> results) {
      tiles.run(
          mine,
          mine,
          theirs,
          (offset, count) -> {
            for (HostTensor result : results) {
              result.copyFrom(offset, mine, offset, count);
            }
            region.check();
          });
    }

    private void reduceBlock(long offset) {
      long count = Math.min(block, own.count() - offset);
      reduce(
          own.slice(offset, count), slices(others, offset, count), slices(written, offset, count));
      region.publishProgress(offset + count);
    }

    private static List<HostTensor> slices(List<HostTensor> of, long offset, long count) {
      List<HostTensor> slices = new ArrayList<>(of.size());
      for (HostTensor each : of) {
        slices.add(each.slice(offset, count));
      }
      return slices;
    }

    /** A part that another rank reduces, which this rank copies block by block. */
    private final class Copied {

      private final int owner;
      private final HostTensor to;
      private final HostTensor from;
      private long done;

      Copied(int owner, HostTensor to, HostTensor from) {
        this.owner = owner;
        this.to = to;
        this.from = from;
      }

      private long next() {
        return Math.min(done + block, to.count());
      }

      void copyIfThere() {
        if (done < to.count() && region.progressOf(owner) >= next()) {
          copyNext();
        }
      }

      void copyRest() {
        while (done < to.count()) {
          region.awaitProgress(owner, next());
          copyNext();
        }
      }

      private void copyNext() {
        long count = next() - done;
        to.copyFrom(done, from, done, count);
        done += count;
        region.check();
      }
    }
  }
}
