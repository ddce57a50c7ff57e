package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Hierarchical reduce-scatter: each rank reduces, from all inputs of its node, its own part and
 * those of the other ranks of its cross-node group; then these are reduced and scattered between
 * nodes. In nodes with more ranks than the smallest, leaders carry the parts of several ranks. Sums
 * travel as accumulators, and each element is rounded once. The parts may differ in size.
 *
 * <p>Steps: those of a reduce-scatter between nodes, for each part that a leader carries, and
 * inside 2 waits for all (publish, done). Bytes sent between nodes by each rank: those of that
 * reduce-scatter, in the accumulator's type. Bytes moved in memory by each rank: the parts that it
 * carries of all nodes, read from all inputs of its node. Scratch: those parts.
 */
final class HierarchicalReduceScatter implements HierarchicalAlgorithm<Call.ReduceScatter> {

  private final Phases phases;
  private final Scratch scratch;

  HierarchicalReduceScatter(Phases phases, Scratch scratch) {
    this.phases = phases;
    this.scratch = scratch;
  }

  @Override
  public double seconds(Situation s) {
    Locality locality = s.locality();
    int rounds = Rounds.count(locality);
    // Of what one round carries.
    long carried = s.shape().bytes() / locality.smallest() / rounds;
    return rounds
            * s.interNode(phases.rows(OpType.REDUCE_SCATTER), s.shape().ofAccumulators(carried))
        + s.inHeap(2 + rounds - 1, rounds * carried * (locality.largest() + Situation.SCRATCH));
  }

  @Override
  public void run(Peers peers, Call.ReduceScatter call) {
    Hierarchy hierarchy = peers.hierarchy().orElseThrow();
    HostTensor output = call.output();
    ReduceKernel kernel = call.kernel();
    Chunks input = call.input().premultiplied(kernel);
    Rounds rounds = Rounds.of(hierarchy);
    SharedRegion region = hierarchy.intraNode().memory().region();
    region.publish(input.all());
    List<HostTensor[]> sums =
        rounds.isLeader() ? reduceInNode(region, rounds, input, kernel) : List.of();
    region.leave();
    List<HostTensor> carried = new ArrayList<>();
    for (int round = 0; round < sums.size(); round++) {
      HostTensor sum = sums.get(round)[rounds.node()];
      reduceBetweenNodes(hierarchy.interNode(Hierarchy.NO_ROOT), sum, sums.get(round), kernel);
      HostTensor result = round == 0 ? output : result(kernel, round, sum);
      kernel.finish(result, 0, sum, 0, sum.count(), rounds.locality().size());
      carried.add(result);
    }
    if (rounds.isShared()) {
      region.publish(carried);
      if (!rounds.isLeader()) {
        int leader = rounds.leader(rounds.rank());
        int round = rounds.round(rounds.rank());
        SharedCopy.copy(
            region, output, region.publishedBy(leader, round, output.dtype(), output.count()));
      }
    }
    region.finish();
  }

  /** Returns for each round the sums of the parts of all nodes, over the inputs of this one. */
  private List<HostTensor[]> reduceInNode(
      SharedRegion region, Rounds rounds, Chunks input, ReduceKernel kernel) {
    TileReduction reduction = new TileReduction(new PartialReduction(kernel));
    HostTensor memory = scratch.piece(kernel.accumulatorType(), 0, carriedCount(rounds, input));
    List<HostTensor[]> sums = new ArrayList<>();
    long offset = 0;
    for (int round = 0; round < rounds.count(); round++) {
      HostTensor[] ofRound = new HostTensor[rounds.locality().nodes()];
      for (int node = 0; node < ofRound.length; node++) {
        int peer = rounds.rank(node, round);
        HostTensor part = peer < 0 ? memory.slice(0, 0) : input.at(peer);
        ofRound[node] = memory.slice(offset, part.count());
        offset += part.count();
        if (peer >= 0) {
          reduction.run(
              ofRound[node],
              part,
              publishedByOthers(region, peer, part.dtype(), part.count()),
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
      for (int node = 0; node < rounds.locality().nodes(); node++) {
        int peer = rounds.rank(node, round);
        count += peer < 0 ? 0 : input.at(peer).count();
      }
    }
    return count;
  }

  private static List<HostTensor> publishedByOthers(
      SharedRegion region, int part, DType dtype, long count) {
    List<HostTensor> others = new ArrayList<>(region.size() - 1);
    for (int distance = 1; distance < region.size(); distance++) {
      others.add(
          region.publishedBy((region.rank() + distance) % region.size(), part, dtype, count));
    }
    return others;
  }

  private void reduceBetweenNodes(
      Peers interNode, HostTensor sum, HostTensor[] parts, ReduceKernel kernel) {
    phases.run(
        interNode,
        new Call.ReduceScatter(
            sum, Chunks.ofParts(parts), PartialReduction.ofAccumulators(kernel)));
  }

  /** Returns memory for a finished part of another rank. */
  private HostTensor result(ReduceKernel kernel, int round, HostTensor sum) {
    return kernel.reducesInPlace() ? sum : scratch.piece(kernel.inputType(), round, sum.count());
  }
}
