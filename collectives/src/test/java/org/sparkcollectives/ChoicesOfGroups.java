package org.sparkcollectives;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.sparkcollectives.spi.RankContext;

/** Groups whose ranks lie in every way, and the operations of which it is known what runs. */
final class ChoicesOfGroups {

  static final List<Integer> SIZES = List.of(1 << 10, 16 << 10, 256 << 10, 4 << 20);

  /** The placement of a group's ranks in JVMs and hosts. */
  record World(GroupOptions options, IntFunction<RankContext> contexts, boolean allocated) {}

  /** An operation of all ranks, on tensors of so many elements. */
  interface Operation {
    Work begin(ProcessGroup group, int count, IntFunction<Tensor> tensors);
  }

  private ChoicesOfGroups() {}

  static Map<String, World> worlds(int ranks) {
    GroupOptions all = GroupOptions.defaults();
    IntFunction<RankContext> together = rank -> HostedRank.inNode(0);
    IntFunction<RankContext> halves = rank -> HostedRank.inNode(rank * 2 / ranks);
    IntFunction<RankContext> apart = HostedRank::inNode;
    Map<String, World> worlds = new LinkedHashMap<>();
    worlds.put("one JVM", new World(all, together, false));
    worlds.put("a JVM each", new World(all, apart, false));
    worlds.put("a JVM each, allocated", new World(all, apart, true));
    worlds.put("two JVMs", new World(all, halves, false));
    worlds.put("two JVMs, allocated", new World(all, halves, true));
    worlds.put("two JVMs over TCP", new World(all.withTransports("heap", "tcp"), halves, false));
    worlds.put("a JVM each over TCP", new World(all.withTransports("tcp"), apart, false));
    return worlds;
  }

  static Map<OpType, Operation> operations() {
    Map<OpType, Operation> operations = new LinkedHashMap<>();
    operations.put(
        OpType.ALL_REDUCE, (g, n, tensors) -> g.allReduce(tensors.apply(n), ReduceOp.SUM));
    operations.put(OpType.REDUCE, (g, n, tensors) -> g.reduce(tensors.apply(n), ReduceOp.SUM, 0));
    operations.put(
        OpType.REDUCE_SCATTER_INTO,
        (g, n, tensors) ->
            g.reduceScatter(tensors.apply(n / g.size()), tensors.apply(n), ReduceOp.SUM));
    operations.put(
        OpType.ALL_GATHER_INTO,
        (g, n, tensors) -> g.allGather(tensors.apply(n), tensors.apply(n / g.size())));
    operations.put(
        OpType.ALL_GATHER,
        (g, n, tensors) -> {
          List<Tensor> outputs = uneven(g, n, tensors);
          return g.allGather(outputs, tensors.apply((int) outputs.get(g.rank()).count()));
        });
    operations.put(OpType.BROADCAST, (g, n, tensors) -> g.broadcast(tensors.apply(n), 0));
    operations.put(
        OpType.GATHER,
        (g, n, tensors) -> {
          List<Tensor> parts = uneven(g, n, tensors);
          Tensor own = tensors.apply((int) parts.get(g.rank()).count());
          return g.gather(g.rank() == 0 ? parts : List.of(), own, 0);
        });
    operations.put(
        OpType.SCATTER,
        (g, n, tensors) -> {
          List<Tensor> parts = uneven(g, n, tensors);
          Tensor own = tensors.apply((int) parts.get(g.rank()).count());
          return g.scatter(own, g.rank() == 0 ? parts : List.of(), 0);
        });
    operations.put(
        OpType.ALL_TO_ALL_INTO, (g, n, tensors) -> g.allToAll(tensors.apply(n), tensors.apply(n)));
    operations.put(
        OpType.ALL_TO_ALL,
        (g, n, tensors) -> {
          int each = n / g.size();
          // What rank a sends to rank b is one element more where a + b is odd.
          int[] counts =
              IntStream.range(0, g.size()).map(peer -> each - (peer + g.rank()) % 2).toArray();
          List<Tensor> outputs = new ArrayList<>();
          List<Tensor> inputs = new ArrayList<>();
          for (int count : counts) {
            outputs.add(tensors.apply(count));
            inputs.add(tensors.apply(count));
          }
          return g.allToAll(outputs, inputs);
        });
    operations.put(OpType.BARRIER, (g, n, tensors) -> g.barrier());
    return operations;
  }

  /** A part for each rank, of which the first is the shortest. */
  private static List<Tensor> uneven(ProcessGroup group, int count, IntFunction<Tensor> tensors) {
    int each = count / group.size();
    List<Tensor> parts = new ArrayList<>();
    for (int rank = 0; rank < group.size(); rank++) {
      parts.add(tensors.apply(rank == 0 ? each - 1 : each));
    }
    return parts;
  }
}
