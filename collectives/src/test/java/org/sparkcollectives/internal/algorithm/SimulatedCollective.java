package org.sparkcollectives.internal.algorithm;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HostTensor;

/** A collective, on so many bytes of the tensor, or of all parts together. */
record SimulatedCollective<C extends Call<C>>(String name, Operation<C> operation) {

  private static final Map<List<Long>, Chunks> UNEVEN = new ConcurrentHashMap<>();

  /** Makes the call of one rank. */
  @FunctionalInterface
  interface Operation<C extends Call<C>> {
    C call(HostTensor tensor, int rank, int ranks);
  }

  /** Returns those that differ in how they go. */
  static List<SimulatedCollective<?>> all() {
    return List.of(
        new SimulatedCollective<Call.AllReduce>(
            "all-reduce", (t, rank, n) -> Call.allReduce(t, ReduceOp.SUM)),
        new SimulatedCollective<Call.Reduce>(
            "reduce", (t, rank, n) -> Call.reduce(t, ReduceOp.SUM, 0)),
        new SimulatedCollective<Call.Broadcast>(
            "broadcast", (t, rank, n) -> new Call.Broadcast(t, 0)),
        new SimulatedCollective<Call.ReduceScatter>(
            "reduce-scatter",
            (t, rank, n) -> Call.reduceScatter(part(t, rank, n), whole(t, n), ReduceOp.SUM, n)),
        new SimulatedCollective<Call.AllGather>(
            "all-gather", (t, rank, n) -> Call.allGather(whole(t, n), part(t, rank, n), n)),
        new SimulatedCollective<Call.AllGather>(
            "uneven all-gather",
            (t, rank, n) -> new Call.AllGather(uneven(t, n), uneven(t, n).at(rank))),
        new SimulatedCollective<Call.AllToAll>(
            "all-to-all", (t, rank, n) -> Call.allToAll(whole(t, n), whole(t, n), n)));
  }

  private static HostTensor whole(HostTensor tensor, int ranks) {
    return tensor.slice(0, tensor.count() / ranks * ranks);
  }

  /** The parts, of which the first has an element less than the others, if it can. */
  private static Chunks uneven(HostTensor tensor, int ranks) {
    return UNEVEN.computeIfAbsent(
        List.of(tensor.count(), (long) ranks),
        key -> {
          long each = tensor.count() / ranks;
          return Chunks.ofParts(
              IntStream.range(0, ranks)
                  .mapToObj(
                      rank -> tensor.slice(each * rank, rank == 0 ? Math.max(0, each - 1) : each))
                  .toList());
        });
  }

  private static HostTensor part(HostTensor tensor, int rank, int ranks) {
    long each = tensor.count() / ranks;
    return tensor.slice(each * rank, each);
  }
}
