package org.sparkcollectives.algorithm;

import java.util.List;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.SharedRegion;

/**
 * Hierarchical all-gather: all-gather across places, of each rank's part with those of the ranks
 * that are in its stead elsewhere; then each rank copies inside what the others have received. In
 * places with more ranks than the smallest some carry the parts of several, one after the other.
 * The parts may differ in size.
 *
 * <p>Steps: those of an all-gather across, for each part that a rank carries, and inside 2 waits
 * for all (show, done). Bytes sent across by each rank: those of that all-gather. Bytes moved in
 * memory by each rank: the parts that it did not receive, read and written once.
 */
final class HierarchicalAllGather {

  private final AlgorithmSelector phases;

  HierarchicalAllGather(AlgorithmSelector phases) {
    this.phases = phases;
  }

  void run(Hierarchy hierarchy, Chunks outputs, HostTensor input) {
    Rounds rounds = Rounds.of(hierarchy);
    SharedRegion region = hierarchy.inside().region();
    if (rounds.isShared()) {
      collect(region, rounds, outputs, input);
    }
    if (rounds.isCarrier()) {
      exchange(hierarchy.across(Hierarchy.NO_ROOT), rounds, outputs, input);
    }
    region.show(outputs.all());
    for (int distance = 1; distance < rounds.locality().size(); distance++) {
      int peer = (rounds.rank() + distance) % rounds.locality().size();
      int carrier = rounds.carrier(peer);
      if (carrier != rounds.index()) {
        HostTensor output = outputs.at(peer);
        SharedCopy.copy(
            region, output, region.shownBy(carrier, peer, output.dtype(), output.count()));
      }
    }
    region.finish();
  }

  /** Takes the parts that this rank carries for others. */
  private static void collect(
      SharedRegion region, Rounds rounds, Chunks outputs, HostTensor input) {
    region.show(List.of(input));
    for (int round = 1; rounds.isCarrier() && round < rounds.count(); round++) {
      int peer = rounds.rank(rounds.place(), round);
      if (peer >= 0) {
        HostTensor output = outputs.at(peer);
        int index = rounds.locality().index(peer);
        SharedCopy.copy(region, output, region.shownBy(index, 0, output.dtype(), output.count()));
      }
    }
    region.leave();
    if (!rounds.isCarrier()) {
      HostTensor own = outputs.at(rounds.rank());
      own.copyFrom(0, input, 0, input.count());
    }
  }

  private void exchange(Peers across, Rounds rounds, Chunks outputs, HostTensor input) {
    HostTensor none = outputs.at(rounds.rank()).slice(0, 0);
    for (int round = 0; round < rounds.count(); round++) {
      HostTensor[] parts = new HostTensor[across.size()];
      for (int place = 0; place < parts.length; place++) {
        int peer = rounds.rank(place, round);
        parts[place] = peer < 0 ? none : outputs.at(peer);
      }
      HostTensor own = round == 0 ? input : parts[rounds.place()];
      phases.allGather(across, Chunks.ofParts(parts), own);
    }
  }
}
