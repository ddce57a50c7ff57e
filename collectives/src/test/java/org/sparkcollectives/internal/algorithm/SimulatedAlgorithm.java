package org.sparkcollectives.internal.algorithm;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * An algorithm that can be simulated, and what it says that it costs.
 *
 * @param largest the largest group for which every rank's part is run: what a rank does is in
 *     proportion to the group for rings, so all ranks together do its square
 */
record SimulatedAlgorithm(String name, int largest, Prediction prediction, Run run) {

  /** The group sizes that are simulated. */
  static final List<Integer> SIZES = List.of(2, 10, 64, 100, 1_000, 10_000);

  private static final int ALL = 10_000;
  private static final int RINGS = 1_000;
  private static final ReduceKernel SUM = ReduceKernels.of(ReduceOp.SUM, DType.FLOAT32);

  /** The tensor of all ranks, as nobody writes to it; parts of it are equal, or nearly so. */
  private static final HostTensor TENSOR = HostTensor.allocate(DType.FLOAT32, 16 * 20_000);

  /** So short that it is one segment, for algorithms that copy it, or send it whole. */
  private static final HostTensor SHORT = TENSOR.slice(0, 16);

  private static final Map<List<Long>, Chunks> EQUAL_PARTS = new ConcurrentHashMap<>();

  /** What an algorithm says that it costs. */
  @FunctionalInterface
  interface Prediction {
    Cost of(int ranks, long bytes);
  }

  /** An algorithm. */
  @FunctionalInterface
  interface Run {
    void run(SimulatedRank peers, HostTensor tensor);
  }

  /** The tensor that it works on. */
  private HostTensor tensor() {
    return List.of(
                    "RingAllReduce",
                    "DirectAllReduce",
                    "PairwiseAllReduce",
                    "HalvingDoublingAllReduce",
                    "ScatterBroadcast")
                .contains(name)
            || name.endsWith("Gather")
            || name.endsWith("AllToAll")
            || name.endsWith("Scatter")
        ? TENSOR.slice(0, name.startsWith("Bruck") ? 20_000 : TENSOR.count())
        : SHORT;
  }

  Cost cost(int ranks) {
    return prediction.of(ranks, tensor().byteSize());
  }

  Simulation simulate(int ranks) {
    HostTensor tensor = tensor();
    Consumer<SimulatedRank> each = rank -> run.run(rank, tensor);
    return Simulation.of(ranks, each);
  }

  /** The most peers that one of a few ranks meets; in a group of any size. */
  int connections(int ranks) {
    int most = 0;
    for (int rank : new int[] {0, 1, ranks / 2, ranks - 1}) {
      SimulatedRank one = new SimulatedRank(rank, ranks);
      run.run(one, tensor());
      most = Math.max(most, one.connections());
    }
    return most;
  }

  private static SimulatedAlgorithm allReduce(
      MessageAlgorithm<Call.AllReduce> algorithm, int largest) {
    return new SimulatedAlgorithm(
        algorithm.getClass().getSimpleName(),
        largest,
        algorithm::cost,
        (peers, tensor) -> algorithm.run(peers, new Call.AllReduce(tensor, SUM)));
  }

  /** Those that say what they cost. */
  static List<SimulatedAlgorithm> all() {
    Scratch scratch = new Scratch();
    return List.of(
        allReduce(new FlatAllReduce(scratch), 100),
        allReduce(new DirectAllReduce(scratch), 100),
        allReduce(new PairwiseAllReduce(scratch), 100),
        allReduce(new RecursiveDoublingAllReduce(scratch), ALL),
        allReduce(new HalvingDoublingAllReduce(scratch), ALL),
        allReduce(new RingAllReduce(scratch), RINGS),
        new SimulatedAlgorithm(
            "DirectReduceScatter",
            100,
            new DirectReduceScatter(scratch)::cost,
            (peers, tensor) ->
                new DirectReduceScatter(scratch)
                    .run(
                        peers,
                        new Call.ReduceScatter(part(peers, tensor), parts(peers, tensor), SUM))),
        new SimulatedAlgorithm(
            "BruckReduceScatter",
            ALL,
            new BruckReduceScatter(scratch)::cost,
            (peers, tensor) ->
                new BruckReduceScatter(scratch)
                    .run(
                        peers,
                        new Call.ReduceScatter(part(peers, tensor), parts(peers, tensor), SUM))),
        new SimulatedAlgorithm(
            "RingReduceScatter",
            RINGS,
            new RingReduceScatter()::cost,
            (peers, tensor) ->
                new RingReduceScatter()
                    .run(
                        peers,
                        new Call.ReduceScatter(part(peers, tensor), parts(peers, tensor), SUM))),
        new SimulatedAlgorithm(
            "FlatAllGather",
            100,
            new FlatAllGather()::cost,
            (peers, tensor) ->
                new FlatAllGather()
                    .run(peers, new Call.AllGather(parts(peers, tensor), part(peers, tensor)))),
        new SimulatedAlgorithm(
            "BruckAllGather",
            ALL,
            new BruckAllGather(scratch)::cost,
            (peers, tensor) ->
                new BruckAllGather(scratch)
                    .run(peers, new Call.AllGather(parts(peers, tensor), part(peers, tensor)))),
        new SimulatedAlgorithm(
            "RingAllGather",
            RINGS,
            new RingAllGather()::cost,
            (peers, tensor) ->
                new RingAllGather()
                    .run(peers, new Call.AllGather(parts(peers, tensor), part(peers, tensor)))),
        new SimulatedAlgorithm(
            "PairwiseAllToAll",
            100,
            new PairwiseAllToAll()::cost,
            (peers, tensor) ->
                new PairwiseAllToAll()
                    .run(
                        peers,
                        new Call.AllToAll(parts(peers, tensor), parts(peers, tensor), true))),
        new SimulatedAlgorithm(
            "BruckAllToAll",
            RINGS,
            new BruckAllToAll(scratch)::cost,
            (peers, tensor) ->
                new BruckAllToAll(scratch)
                    .run(
                        peers,
                        new Call.AllToAll(parts(peers, tensor), parts(peers, tensor), true))),
        new SimulatedAlgorithm(
            "BinomialBroadcast",
            ALL,
            new BinomialBroadcast()::cost,
            (peers, tensor) -> new BinomialBroadcast().run(peers, new Call.Broadcast(tensor, 0))),
        new SimulatedAlgorithm(
            "ChainBroadcast",
            ALL,
            new ChainBroadcast()::cost,
            (peers, tensor) -> new ChainBroadcast().run(peers, new Call.Broadcast(tensor, 0))),
        new SimulatedAlgorithm(
            "ScatterBroadcast",
            ALL,
            new ScatterBroadcast()::cost,
            (peers, tensor) -> new ScatterBroadcast().run(peers, new Call.Broadcast(tensor, 0))),
        new SimulatedAlgorithm(
            "ChainReduce",
            ALL,
            new ChainReduce(scratch)::cost,
            (peers, tensor) ->
                new ChainReduce(scratch).run(peers, new Call.Reduce(tensor, 0, SUM))));
  }

  /** The same for all ranks, as each would take as long to make as to run its part. */
  private static Chunks parts(SimulatedRank peers, HostTensor tensor) {
    return EQUAL_PARTS.computeIfAbsent(
        List.of(tensor.count(), (long) peers.size()), key -> Chunks.equal(tensor, peers.size()));
  }

  private static HostTensor part(SimulatedRank peers, HostTensor tensor) {
    long each = tensor.count() / peers.size();
    return tensor.slice(each * peers.rank(), each);
  }
}
