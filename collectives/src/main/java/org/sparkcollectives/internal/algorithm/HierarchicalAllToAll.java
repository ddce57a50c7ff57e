package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Hierarchical all-to-all of equal parts: each rank collects what all of its node send to the other
 * ranks of its cross-node group, and sends each of them all of it as one message. In nodes with
 * more ranks than the smallest, leaders do so for several ranks.
 *
 * <p>Steps: those of an all-to-all between nodes, for each rank that a leader carries for, and
 * inside 2 waits for all (publish, done). Bytes sent between nodes by each rank: all parts for
 * ranks of other nodes. Scratch: what is sent and received between nodes, twice the tensor at the
 * most.
 */
final class HierarchicalAllToAll implements HierarchicalAlgorithm<Call.AllToAll> {

  private final Phases phases;
  private final Scratch scratch;

  HierarchicalAllToAll(Phases phases, Scratch scratch) {
    this.phases = phases;
    this.scratch = scratch;
  }

  @Override
  public double seconds(Situation s) {
    int rounds = Rounds.count(s.locality());
    // A node sends itself nothing, so the parts between nodes differ in size.
    Shape between = Shape.ofUnknown(s.shape().bytes());
    return rounds * s.interNode(phases.rows(OpType.ALL_TO_ALL), between)
        + s.inHeap(2 + rounds - 1, (1 + Situation.SCRATCH) * s.shape().bytes() * rounds);
  }

  @Override
  public void run(Peers peers, Call.AllToAll call) {
    Hierarchy hierarchy = peers.hierarchy().orElseThrow();
    Chunks outputs = call.outputs();
    Chunks inputs = call.inputs();
    Rounds rounds = Rounds.of(hierarchy);
    SharedRegion region = hierarchy.intraNode().memory().region();
    region.publish(inputs.all());
    takeFromOwnNode(region, rounds, outputs);
    List<HostTensor> received = List.of();
    if (rounds.isLeader()) {
      Blocks blocks = new Blocks(rounds, scratch, outputs.at(0));
      blocks.collect(region);
      region.leave();
      for (int round = 0; round < rounds.count(); round++) {
        Chunks to = Chunks.ofParts(blocks.received(round));
        Chunks from = Chunks.ofParts(blocks.sent(round));
        phases.run(hierarchy.interNode(Hierarchy.NO_ROOT), new Call.AllToAll(to, from, false));
      }
      received = blocks.received();
    } else {
      region.leave();
    }
    if (rounds.isShared()) {
      region.publish(received);
    }
    deliver(region, rounds, outputs, received);
    region.finish();
  }

  private static void takeFromOwnNode(SharedRegion region, Rounds rounds, Chunks outputs) {
    for (int distance = 0; distance < region.size(); distance++) {
      int neighbour = (region.rank() + distance) % region.size();
      HostTensor output = outputs.at(rounds.locality().rank(rounds.node(), neighbour));
      SharedCopy.copy(
          region,
          output,
          region.publishedBy(neighbour, rounds.rank(), output.dtype(), output.count()));
    }
  }

  /** Copies what came from other nodes to the outputs, from where its leader has it. */
  private static void deliver(
      SharedRegion region, Rounds rounds, Chunks outputs, List<HostTensor> received) {
    Locality locality = rounds.locality();
    int round = rounds.round(rounds.rank());
    for (int node = 0; node < locality.nodes(); node++) {
      if (node == rounds.node()) {
        continue;
      }
      long part = outputs.at(0).count();
      long count = part * locality.sizeOf(node);
      int which = round * locality.nodes() + node;
      HostTensor block =
          rounds.isLeader()
              ? received.get(which)
              : region.publishedBy(
                  rounds.leader(rounds.rank()), which, outputs.at(0).dtype(), count);
      for (int index = 0; index < locality.sizeOf(node); index++) {
        HostTensor output = outputs.at(locality.rank(node, index));
        SharedCopy.copy(region, output, block.slice(index * part, part));
      }
    }
  }

  /**
   * The blocks that one leader sends to other nodes and receives from them, for itself and for the
   * ranks that it carries for.
   */
  private static final class Blocks {
    private final Rounds rounds;
    private final Locality locality;
    private final long part;
    private final List<HostTensor> sent = new ArrayList<>();
    private final List<HostTensor> received = new ArrayList<>();

    Blocks(Rounds rounds, Scratch scratch, HostTensor like) {
      this.rounds = rounds;
      this.locality = rounds.locality();
      this.part = like.count();
      cut(sent, scratch.piece(like.dtype(), 0, total(true)), true);
      cut(received, scratch.piece(like.dtype(), 1, total(false)), false);
    }

    /** The parts between this node and another in a round. */
    private long count(int node, int round, boolean toThere) {
      boolean exists = rounds.rank(toThere ? node : rounds.node(), round) >= 0;
      int from = toThere ? rounds.node() : node;
      return exists && node != rounds.node() ? part * locality.sizeOf(from) : 0;
    }

    private long total(boolean toThere) {
      long total = 0;
      for (int round = 0; round < rounds.count(); round++) {
        for (int node = 0; node < locality.nodes(); node++) {
          total += count(node, round, toThere);
        }
      }
      return total;
    }

    private void cut(List<HostTensor> blocks, HostTensor memory, boolean toThere) {
      long offset = 0;
      for (int round = 0; round < rounds.count(); round++) {
        for (int node = 0; node < locality.nodes(); node++) {
          long count = count(node, round, toThere);
          blocks.add(memory.slice(offset, count));
          offset += count;
        }
      }
    }

    void collect(SharedRegion region) {
      for (int round = 0; round < rounds.count(); round++) {
        for (int node = 0; node < locality.nodes(); node++) {
          int peer = rounds.rank(node, round);
          HostTensor block = sent.get(round * locality.nodes() + node);
          for (int index = 0; block.count() > 0 && index < region.size(); index++) {
            HostTensor theirs = region.publishedBy(index, peer, block.dtype(), part);
            SharedCopy.copy(region, block.slice(index * part, part), theirs);
          }
        }
      }
    }

    private List<HostTensor> ofRound(List<HostTensor> blocks, int round) {
      return blocks.subList(round * locality.nodes(), (round + 1) * locality.nodes());
    }

    List<HostTensor> sent(int round) {
      return ofRound(sent, round);
    }

    List<HostTensor> received(int round) {
      return ofRound(received, round);
    }

    List<HostTensor> received() {
      return received;
    }
  }
}
