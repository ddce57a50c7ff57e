package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Reduce in memory that all ranks see: the owner of a part reads it from all tensors and writes the
 * result, chunk by chunk, to an outbox of its own, from which the root copies it. Of a small tensor
 * the root reduces all. Nobody writes to another rank's tensor.
 *
 * <p>Steps: 2 (all publish, all are done), and 1 for each chunk of a part. Bytes moved in memory by
 * each rank: its part, 1/n of the tensor, read from n tensors and written to one; by the root the
 * other parts, too, read and written once. Scratch: four chunks.
 */
final class SharedReduce implements Algorithm<Call.Reduce> {

  /** The bytes that the root reduces by itself before the others have come to help. */
  private static final long LARGEST_ALONE_BYTES = 32 << 10;

  private static final int CHUNK_BYTES = 64 << 10;
  private static final int DEPTH = 4;

  private final Scratch scratch = new Scratch();

  /**
   * Returns what a rank publishes.
   *
   * @param input its tensor, or a copy of it
   * @param anywhere allocates an outbox where any memory will do
   */
  static List<HostTensor> published(
      Peers peers, HostTensor input, int root, LongFunction<HostTensor> anywhere) {
    if (peers.rank() == root || isSmall(input)) {
      return List.of(input);
    }
    DType dtype = input.dtype();
    long count = outboxCount(dtype);
    return List.of(input, peers.memory().publishable(dtype, count, () -> anywhere.apply(count)));
  }

  private static long outboxCount(DType dtype) {
    return (long) DEPTH * (CHUNK_BYTES / dtype.bytes());
  }

  private static boolean isSmall(HostTensor tensor) {
    return tensor.byteSize() <= LARGEST_ALONE_BYTES;
  }

  @Override
  public void run(Peers peers, Call.Reduce call) {
    SharedRegion region = peers.memory().region();
    ReduceKernel kernel = call.kernel();
    int root = call.root();
    HostTensor given = contribution(call.tensor(), peers.rank() == root, kernel);
    List<HostTensor> published =
        published(peers, given, root, count -> scratch.piece(given.dtype(), 0, count));
    region.publish(published);
    HostTensor input = published.get(0);
    if (isSmall(input)) {
      if (region.rank() == root) {
        List<HostTensor> others = new ArrayList<>(region.size() - 1);
        for (int distance = 1; distance < region.size(); distance++) {
          others.add(publishedBy(region, (root + distance) % region.size(), input));
        }
        new TileReduction(kernel).run(input, input, others, (offset, count) -> region.check());
      }
    } else if (region.rank() == root) {
      new Root(region, input, kernel).run();
    } else {
      new Owner(region, input, published.get(1), root, kernel).run();
    }
    region.finish();
  }

  /**
   * Returns what a rank gives to a reduce: its tensor; or a multiplied copy, as only the root's may
   * change.
   */
  static HostTensor contribution(HostTensor tensor, boolean atRoot, ReduceKernel kernel) {
    if (!kernel.premultiplies()) {
      return tensor;
    }
    HostTensor input = tensor;
    if (!atRoot) {
      input = HostTensor.allocate(tensor.dtype(), tensor.count());
      input.copyFrom(0, tensor, 0, tensor.count());
    }
    kernel.premultiply(input, 0, input.count());
    return input;
  }

  private static HostTensor publishedBy(SharedRegion region, int peer, HostTensor like) {
    return region.publishedBy(peer, 0, like.dtype(), like.count());
  }

  /** A rank's work on its own part, cut in chunks. */
  private static class Part {
    final SharedRegion region;
    final TileReduction reduction;
    final int rank;
    final int n;
    final int chunk;

    /** This part of the root's tensor, and of the others from the root on. */
    final List<HostTensor> inputs;

    Part(SharedRegion region, HostTensor tensor, int root, ReduceKernel kernel) {
      this.region = region;
      this.reduction = new TileReduction(kernel);
      this.rank = region.rank();
      this.n = region.size();
      this.chunk = CHUNK_BYTES / tensor.dtype().bytes();
      this.inputs = new ArrayList<>(n);
      for (int distance = 0; distance < n; distance++) {
        inputs.add(Chunks.part(publishedBy(region, (root + distance) % n, tensor), rank, n));
      }
    }

    static long chunks(HostTensor part, int chunk) {
      return (part.count() + chunk - 1) / chunk;
    }

    HostTensor chunkOf(HostTensor part, long index) {
      long from = index * chunk;
      return part.slice(from, Math.min(chunk, part.count() - from));
    }

    HostTensor place(HostTensor outbox, long index, long count) {
      return outbox.slice(index % DEPTH * chunk, count);
    }

    /** Reduces a chunk into {@code result}, or in place. */
    void reduce(HostTensor result, long index) {
      HostTensor first = chunkOf(inputs.get(0), index);
      List<HostTensor> others = new ArrayList<>(n - 1);
      for (HostTensor input : inputs.subList(1, n)) {
        others.add(chunkOf(input, index));
      }
      reduction.run(
          result == null ? first : result, first, others, (offset, count) -> region.check());
    }
  }

  private static final class Owner extends Part {
    private final HostTensor outbox;
    private final int root;

    Owner(
        SharedRegion region, HostTensor tensor, HostTensor outbox, int root, ReduceKernel kernel) {
      super(region, tensor, root, kernel);
      this.outbox = outbox;
      this.root = root;
    }

    void run() {
      HostTensor part = inputs.get(0);
      for (long index = 0; index < chunks(part, chunk); index++) {
        // The root says how many chunks of all parts it has taken.
        region.awaitProgress(root, index - DEPTH + 1);
        reduce(place(outbox, index, chunkOf(part, index).count()), index);
        region.publishProgress(index + 1);
      }
    }
  }

  private static final class Root extends Part {
    private final HostTensor tensor;
    private final HostTensor[] outboxes;

    Root(SharedRegion region, HostTensor tensor, ReduceKernel kernel) {
      super(region, tensor, region.rank(), kernel);
      this.tensor = tensor;
      this.outboxes = new HostTensor[n];
      for (int distance = 1; distance < n; distance++) {
        int peer = (rank + distance) % n;
        outboxes[peer] = region.publishedBy(peer, 1, tensor.dtype(), outboxCount(tensor.dtype()));
      }
    }

    void run() {
      long most = 0;
      for (int peer = 0; peer < n; peer++) {
        most = Math.max(most, chunks(Chunks.part(tensor, peer, n), chunk));
      }
      long ownChunks = chunks(inputs.get(0), chunk);
      for (long index = 0; index < most; index++) {
        if (index < ownChunks) {
          reduce(null, index);
        }
        take(index);
        region.publishProgress(index + 1);
      }
    }

    /** Reduces a chunk of each other part. */
    private void take(long index) {
      for (int distance = 1; distance < n; distance++) {
        int peer = (rank + distance) % n;
        HostTensor part = Chunks.part(tensor, peer, n);
        if (index < chunks(part, chunk)) {
          region.awaitProgress(peer, index + 1);
          HostTensor to = chunkOf(part, index);
          to.copyFrom(place(outboxes[peer], index, to.count()));
        }
      }
    }
  }
}
