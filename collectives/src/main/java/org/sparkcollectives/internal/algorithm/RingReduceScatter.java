package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Ring reduce-scatter: the sum of each part travels once around the ring, and ends where it
 * belongs. The parts may differ in size; the input is only read.
 *
 * <p>Steps: n-1; large parts go in two messages. Bytes sent by each rank: all parts but one.
 * Scratch: two of the largest part, three of parts that are not cut.
 */
final class RingReduceScatter implements MessageAlgorithm<Call.ReduceScatter> {

  @Override
  public Cost cost(int ranks, long bytes) {
    return cost(ranks, Shape.ofParts(bytes, true));
  }

  @Override
  public Cost cost(int ranks, Shape shape) {
    long bytes = (shape.bytes() + shape.accumulated() * (ranks - 2)) / ranks;
    long messages = (ranks - 1L) * RingPipeline.of(ranks, shape.bytes()).pieces();
    return new Cost(ranks - 1, messages, bytes);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofRing(racks, cost(racks.ranks(), shape));
  }

  @Override
  public void run(Peers peers, Call.ReduceScatter call) {
    int n = peers.size();
    RingPipeline pipeline = RingPipeline.of(n, call.input().bytes());
    Steps steps = new Steps(peers, call, pipeline);
    if (n == 1) {
      steps.finish(0, steps.accumulator(-1, 0, steps.input[0].at(0)));
      return;
    }
    pipeline.run(peers, n - 1, steps);
    peers.flush();
  }

  private static final class Steps implements RingPipeline.Steps {
    private final ReduceKernel kernel;
    private final RingPipeline pipeline;
    private final int rank;
    private final int n;
    private final Chunks[] input;
    private final HostTensor[] output;
    private final boolean addsUpInOutput;
    private final HostTensor[] memory;

    /** The sum that was received last, of each piece. */
    private final HostTensor[] sums;

    Steps(Peers peers, Call.ReduceScatter call, RingPipeline pipeline) {
      this.pipeline = pipeline;
      kernel = call.kernel();
      rank = peers.rank();
      n = peers.size();
      // Accumulators of the input's type are multiplied one by one.
      input =
          pipeline.cut(kernel.reducesInPlace() ? call.input() : call.input().premultiplied(kernel));
      output = new HostTensor[pipeline.pieces()];
      for (int i = 0; i < output.length; i++) {
        output[i] = Chunks.part(call.output(), i, output.length);
      }
      addsUpInOutput = kernel.resultType() == kernel.accumulatorType();
      memory = new HostTensor[pipeline.accumulators()];
      sums = new HostTensor[pipeline.pieces()];
    }

    @Override
    public HostTensor outgoing(int step, int piece) {
      if (step > 0) {
        return sums[piece];
      }
      // What goes first is a contribution to which nothing was added.
      HostTensor own = input[piece].at(rank - 1);
      return kernel.reducesInPlace() && kernel.premultiplies() ? accumulator(-1, piece, own) : own;
    }

    @Override
    public void receive(Pair previous, int step, int piece) {
      HostTensor sum = accumulator(step, piece, input[piece].at(rank - step - 2));
      previous.receiveAndReduce(sum, step == 0 ? kernel : PartialReduction.ofSums(kernel));
      sums[piece] = sum;
      if (step == n - 2) {
        finish(piece, sum);
      }
    }

    void finish(int piece, HostTensor sum) {
      HostTensor out = output[piece];
      kernel.finish(out, 0, addsUpInOutput ? out : sum, 0, out.count(), n);
    }

    /** Returns this rank's contribution to a part, as an accumulator. */
    HostTensor accumulator(int step, int piece, HostTensor part) {
      HostTensor accumulator = accumulatorMemory(step, piece).slice(0, part.count());
      kernel.load(accumulator, 0, part, 0, part.count());
      if (kernel.reducesInPlace()) {
        kernel.premultiply(accumulator, 0, part.count());
      }
      return accumulator;
    }

    private HostTensor accumulatorMemory(int step, int piece) {
      if (step == n - 2 && addsUpInOutput) {
        return output[piece];
      }
      int index = pipeline.accumulator(step, piece);
      if (memory[index] == null) {
        memory[index] = HostTensor.allocate(kernel.accumulatorType(), largest());
      }
      return memory[index];
    }

    private long largest() {
      long largest = 0;
      for (Chunks each : input) {
        largest = Math.max(largest, each.largest());
      }
      return largest;
    }
  }
}
