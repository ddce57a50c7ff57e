package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedStaging;
import org.sparkcollectives.internal.transport.SharedStaging.Phase;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * All-reduce through memory that all ranks see, of tensors that lie elsewhere: chunk by chunk each
 * rank copies in what the others reduce, reduces its own part, and copies out what the others have
 * reduced. A chunk is still in the processor's cache when its result comes, so that main memory is
 * read and written once only; a rank works on three chunks at a time, so that a slower one is not
 * waited for at every step.
 *
 * <p>Steps: 3 for the first chunk, 1 for each other. Bytes moved in memory by each rank: (n-1)/n of
 * the tensor copied in and as much copied out, its part, 1/n, read from n tensors.
 */
final class StagedAllReduce implements Algorithm<Call.AllReduce> {

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    new Run(peers.memory().staging(), call.tensor(), call.kernel()).run();
  }

  private static final class Run {
    private final SharedStaging staging;
    private final HostTensor tensor;
    private final DType dtype;
    private final TileReduction reduction;
    private final int rank;
    private final int n;
    private final long chunkElements;
    private final List<HostTensor> others;

    Run(SharedStaging staging, HostTensor tensor, ReduceKernel kernel) {
      this.staging = staging;
      this.tensor = tensor;
      this.dtype = tensor.dtype();
      this.reduction = new TileReduction(kernel);
      this.rank = staging.rank();
      this.n = staging.size();
      this.chunkElements = staging.chunkBytes() / dtype.bytes();
      this.others = new ArrayList<>(n - 1);
    }

    void run() {
      long chunks = (tensor.count() + chunkElements - 1) / chunkElements;
      for (long step = 0; step < chunks + 2; step++) {
        if (step < chunks) {
          copyIn(step);
        }
        if (step >= 1 && step <= chunks) {
          reduce(step - 1);
        }
        if (step >= 2) {
          copyOut(step - 2);
        }
      }
      staging.finish(chunks);
    }

    private HostTensor chunk(long chunk) {
      long from = chunk * chunkElements;
      return tensor.slice(from, Math.min(chunkElements, tensor.count() - from));
    }

    private HostTensor buffer(int ofRank, long chunk, long count) {
      return staging.buffer(ofRank, chunk, dtype).slice(0, count);
    }

    private void copyIn(long chunk) {
      for (int distance = 1; distance < n; distance++) {
        staging.await((rank + distance) % n, Phase.COPIED_OUT, chunk - staging.depth());
      }
      HostTensor mine = chunk(chunk);
      HostTensor buffer = buffer(rank, chunk, mine.count());
      for (int distance = 1; distance < n; distance++) {
        int peer = (rank + distance) % n;
        Chunks.part(buffer, peer, n).copyFrom(Chunks.part(mine, peer, n));
      }
      staging.reached(Phase.COPIED_IN, chunk);
    }

    private void reduce(long chunk) {
      HostTensor mine = chunk(chunk);
      HostTensor part = Chunks.part(mine, rank, n);
      HostTensor buffer = Chunks.part(buffer(rank, chunk, mine.count()), rank, n);
      others.clear();
      for (int distance = 1; distance < n; distance++) {
        int peer = (rank + distance) % n;
        staging.await(peer, Phase.COPIED_IN, chunk);
        others.add(Chunks.part(buffer(peer, chunk, mine.count()), rank, n));
      }
      reduction.run(
          part, part, others, (offset, count) -> buffer.copyFrom(offset, part, offset, count));
      staging.reached(Phase.REDUCED, chunk);
    }

    private void copyOut(long chunk) {
      HostTensor mine = chunk(chunk);
      for (int distance = 1; distance < n; distance++) {
        int peer = (rank + distance) % n;
        staging.await(peer, Phase.REDUCED, chunk);
        Chunks.part(mine, peer, n)
            .copyFrom(Chunks.part(buffer(peer, chunk, mine.count()), peer, n));
      }
      staging.reached(Phase.COPIED_OUT, chunk);
    }
  }
}
