package org.sparkcollectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.SharedRegion;

/**
 * Hierarchical reduce-scatter: each rank reduces, from all inputs of its place, the parts of the
 * ranks that are in its stead elsewhere, and its own; then those are reduced and scattered across
 * places. In places with more ranks than the smallest some carry the parts of several. Sums travel
 * as accumulators, and each element is rounded once. The parts may differ in size.
 *
 * <p>Steps: those of a reduce-scatter across, for each part that a rank carries, and inside 2 waits
 * for all (show, done). Bytes sent across by each rank: those of that reduce-scatter, in the
 * accumulator's type. Bytes moved in memory by each rank: the parts that it carries of all places,
 * read from all inputs of its place. Scratch: those parts.
 */
final class HierarchicalReduceScatter {

  private final AlgorithmSelector phases;
  private final Scratch scratch;

  HierarchicalReduceScatter(AlgorithmSelector phases, Scratch scratch) {
    this.phases = phases;
    this.scratch = scratch;
  }

  /** Reduces multiplied parts. */
  void run(Hierarchy hierarchy, HostTensor output, Chunks input, ReduceOp op) {
    ReduceKernel kernel = ReduceKernel.of(op, output.dtype());
    Rounds rounds = Rounds.of(hierarchy);
    SharedRegion region = hierarchy.inside().region();
    region.show(input.all());
    List<HostTensor[]> sums =
        rounds.isCarrier() ? reduceInside(region, rounds, input, kernel) : List.of();
    region.leave();
    List<HostTensor> carried = new ArrayList<>();
    for (int round = 0; round < sums.size(); round++) {
      HostTensor sum = sums.get(round)[rounds.place()];
      reduceAcross(hierarchy.across(Hierarchy.NO_ROOT), sum, sums.get(round), op);
      HostTensor result = round == 0 ? output : result(kernel, round, sum);
      kernel.finish(result, 0, sum, 0, sum.count(), rounds.locality().size());
      carried.add(result);
    }
    if (rounds.isShared()) {
      region.show(carried);
      if (!rounds.isCarrier()) {
        int carrier = rounds.carrier(rounds.rank());
        int round = rounds.round(rounds.rank());
        SharedCopy.copy(
            region, output, region.shownBy(carrier, round, output.dtype(), output.count()));
      }
    }
    region.finish();
  }

  /** For each round the sums of the parts of all places, over the inputs of this one. */
  private List<HostTensor[]> reduceInside(
      SharedRegion region, Rounds rounds, Chunks input, ReduceKernel kernel) {
    TileReduction reduction = new TileReduction(new PartialReduction(kernel));
    HostTensor memory = scratch.piece(kernel.accumulatorType(), 0, carriedCount(rounds, input));
    List<HostTensor[]> sums = new ArrayList<>();
    long offset = 0;
    for (int round = 0; round < rounds.count(); round++) {
      HostTensor[] ofRound = new HostTensor[rounds.locality().places()];
      for (int place = 0; place < ofRound.length; place++) {
        int peer = rounds.rank(place, round);
        HostTensor part = peer < 0 ? memory.slice(0, 0) : input.at(peer);
        ofRound[place] = memory.slice(offset, part.count());
        offset += part.count();
        if (peer >= 0) {
          reduction.run(
              ofRound[place],
              part,
              shownByOthers(region, peer, part.dtype(), part.count()),
              (from, count) -> region.check());
        }
      }
      sums.add(ofRound);
    }
    return sums;
  }

  private static long carriedCount(Rounds rounds, Chunks input) {
    long count = 0;
    for (int round = 0; round < rounds.count(); round++) {
      for (int place = 0; place < rounds.locality().places(); place++) {
        int peer = rounds.rank(place, round);
        count += peer < 0 ? 0 : input.at(peer).count();
      }
    }
    return count;
  }

  private static List<HostTensor> shownByOthers(
      SharedRegion region, int part, DType dtype, long count) {
    List<HostTensor> others = new ArrayList<>(region.size() - 1);
    for (int distance = 1; distance < region.size(); distance++) {
      others.add(region.shownBy((region.rank() + distance) % region.size(), part, dtype, count));
    }
    return others;
  }

  private void reduceAcross(Peers across, HostTensor sum, HostTensor[] parts, ReduceOp op) {
    phases.reduceScatter(across, sum, List.of(parts), PartialReduction.ofAccumulators(op));
  }

  /** Memory for a finished part of another rank. */
  private HostTensor result(ReduceKernel kernel, int round, HostTensor sum) {
    return kernel.reducesInPlace() ? sum : scratch.piece(kernel.inputType(), round, sum.count());
  }
}
