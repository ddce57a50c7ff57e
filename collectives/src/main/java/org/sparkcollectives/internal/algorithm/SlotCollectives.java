package org.sparkcollectives.internal.algorithm;

import java.nio.ByteBuffer;
import java.util.List;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedSlots;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Collectives on so little data that each rank copies what it gives to where all see it, and each
 * takes from there what it needs, in the order of the ranks. Only the number of steps counts.
 *
 * <p>Steps: 1. Bytes moved in memory by each rank: what it gives, written once; what it needs, read
 * once.
 */
final class SlotCollectives {

  private final Scratch scratch = new Scratch();

  void allReduce(Peers peers, Call.AllReduce call) {
    SharedSlots slots = peers.memory().slots();
    HostTensor tensor = call.tensor();
    slots.publish(List.of(tensor));
    reduceInto(slots, tensor, 0, call.kernel());
  }

  void reduce(Peers peers, Call.Reduce call) {
    SharedSlots slots = peers.memory().slots();
    HostTensor tensor = call.tensor();
    slots.publish(List.of(tensor));
    if (slots.rank() == call.root()) {
      reduceInto(slots, tensor, 0, call.kernel());
    }
  }

  void reduceScatter(Peers peers, Call.ReduceScatter call) {
    SharedSlots slots = peers.memory().slots();
    Chunks input = call.input();
    slots.publish(input.all());
    reduceInto(slots, call.output(), input.bytesBefore(slots.rank()), call.kernel());
  }

  /** Reduces what all ranks give, from {@code start} on, in bytes. */
  private void reduceInto(SharedSlots slots, HostTensor result, int start, ReduceKernel kernel) {
    int count = (int) result.count();
    result.write(0, count, at(slots, 0, start));
    HostTensor sum = result;
    if (!kernel.reducesInPlace()) {
      sum = scratch.piece(kernel.accumulatorType(), 0, count);
      kernel.load(sum, 0, result, 0, count);
    }
    for (int rank = 1; rank < slots.size(); rank++) {
      kernel.accumulate(sum, 0, count, at(slots, rank, start));
    }
    kernel.finish(result, 0, sum, 0, count, slots.size());
  }

  private static ByteBuffer at(SharedSlots slots, int rank, int start) {
    ByteBuffer data = slots.of(rank);
    return data.position(data.position() + start);
  }

  void broadcast(Peers peers, Call.Broadcast call) {
    SharedSlots slots = peers.memory().slots();
    HostTensor tensor = call.tensor();
    if (slots.rank() == call.root()) {
      slots.publish(List.of(tensor));
    } else {
      slots.publish(List.of());
      tensor.write(0, (int) tensor.count(), slots.of(call.root()));
    }
  }

  void allGather(Peers peers, Call.AllGather call) {
    SharedSlots slots = peers.memory().slots();
    slots.publish(List.of(call.input()));
    for (int rank = 0; rank < slots.size(); rank++) {
      HostTensor output = call.outputs().at(rank);
      output.write(0, (int) output.count(), slots.of(rank));
    }
  }

  /** Exchanges parts of equal size. */
  void allToAll(Peers peers, Call.AllToAll call) {
    SharedSlots slots = peers.memory().slots();
    Chunks inputs = call.inputs();
    slots.publish(inputs.all());
    int start = inputs.bytesBefore(slots.rank());
    for (int rank = 0; rank < slots.size(); rank++) {
      HostTensor output = call.outputs().at(rank);
      output.write(0, (int) output.count(), at(slots, rank, start));
    }
  }

  void barrier(Peers peers, Call.Barrier call) {
    SharedSlots slots = peers.memory().slots();
    slots.publish(List.of());
    slots.awaitAll();
  }
}
