package org.sparkcollectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Locality;
import org.sparkcollectives.transport.SharedRegion;

/**
 * Hierarchical all-to-all of equal parts: each rank collects what all of its place send to the
 * ranks that are in its stead elsewhere, and sends each of them all of it as one message. In places
 * with more ranks than the smallest some do so for several.
 *
 * <p>Steps: those of an all-to-all across, for each rank that one carries for, and inside 2 waits
 * for all (show, done). Bytes sent across by each rank: all parts for ranks of other places.
 * Scratch: what is sent across and what is received, twice the tensor at the most.
 */
final class HierarchicalAllToAll {

  private final AlgorithmSelector phases;
  private final Scratch scratch;

  HierarchicalAllToAll(AlgorithmSelector phases, Scratch scratch) {
    this.phases = phases;
    this.scratch = scratch;
  }

  void run(Hierarchy hierarchy, Chunks outputs, Chunks inputs) {
    Rounds rounds = Rounds.of(hierarchy);
    SharedRegion region = hierarchy.inside().region();
    region.show(inputs.all());
    takeFromOwnPlace(region, rounds, outputs);
    List<HostTensor> received = List.of();
    if (rounds.isCarrier()) {
      Blocks blocks = new Blocks(rounds, scratch, outputs.at(0));
      blocks.collect(region);
      region.leave();
      for (int round = 0; round < rounds.count(); round++) {
        phases.allToAll(
            hierarchy.across(Hierarchy.NO_ROOT), blocks.received(round), blocks.sent(round));
      }
      received = blocks.received();
    } else {
      region.leave();
    }
    if (rounds.isShared()) {
      region.show(received);
    }
    deliver(region, rounds, outputs, received);
    region.finish();
  }

  private static void takeFromOwnPlace(SharedRegion region, Rounds rounds, Chunks outputs) {
    for (int distance = 0; distance < region.size(); distance++) {
      int neighbour = (region.rank() + distance) % region.size();
      HostTensor output = outputs.at(rounds.locality().rank(rounds.place(), neighbour));
      SharedCopy.copy(
          region, output, region.shownBy(neighbour, rounds.rank(), output.dtype(), output.count()));
    }
  }

  /** Copies what came from other places to the outputs, from where its carrier has it. */
  private static void deliver(
      SharedRegion region, Rounds rounds, Chunks outputs, List<HostTensor> received) {
    Locality locality = rounds.locality();
    int round = rounds.round(rounds.rank());
    for (int place = 0; place < locality.places(); place++) {
      if (place == rounds.place()) {
        continue;
      }
      long part = outputs.at(0).count();
      long count = part * locality.sizeOf(place);
      int which = round * locality.places() + place;
      HostTensor block =
          rounds.isCarrier()
              ? received.get(which)
              : region.shownBy(rounds.carrier(rounds.rank()), which, outputs.at(0).dtype(), count);
      for (int index = 0; index < locality.sizeOf(place); index++) {
        HostTensor output = outputs.at(locality.rank(place, index));
        SharedCopy.copy(region, output, block.slice(index * part, part));
      }
    }
  }

  /** What one rank sends across and receives, for itself and those that it carries for. */
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

    /** The parts between this place and another in a round. */
    private long count(int place, int round, boolean toThere) {
      boolean exists = rounds.rank(toThere ? place : rounds.place(), round) >= 0;
      int from = toThere ? rounds.place() : place;
      return exists && place != rounds.place() ? part * locality.sizeOf(from) : 0;
    }

    private long total(boolean toThere) {
      long total = 0;
      for (int round = 0; round < rounds.count(); round++) {
        for (int place = 0; place < locality.places(); place++) {
          total += count(place, round, toThere);
        }
      }
      return total;
    }

    private void cut(List<HostTensor> blocks, HostTensor memory, boolean toThere) {
      long offset = 0;
      for (int round = 0; round < rounds.count(); round++) {
        for (int place = 0; place < locality.places(); place++) {
          long count = count(place, round, toThere);
          blocks.add(memory.slice(offset, count));
          offset += count;
        }
      }
    }

    void collect(SharedRegion region) {
      for (int round = 0; round < rounds.count(); round++) {
        for (int place = 0; place < locality.places(); place++) {
          int peer = rounds.rank(place, round);
          HostTensor block = sent.get(round * locality.places() + place);
          for (int index = 0; block.count() > 0 && index < region.size(); index++) {
            HostTensor theirs = region.shownBy(index, peer, block.dtype(), part);
            SharedCopy.copy(region, block.slice(index * part, part), theirs);
          }
        }
      }
    }

    private List<HostTensor> ofRound(List<HostTensor> blocks, int round) {
      return blocks.subList(round * locality.places(), (round + 1) * locality.places());
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
