package org.sparkcollectives.internal.algorithm;

import java.util.List;
import java.util.function.Predicate;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.algorithm.AlgorithmRows.Condition;
import org.sparkcollectives.internal.algorithm.AlgorithmRows.Kind;
import org.sparkcollectives.internal.algorithm.AlgorithmRows.Row;
import org.sparkcollectives.internal.transport.GroupMemory.Access;
import org.sparkcollectives.internal.transport.Reach;

/**
 * Decides which algorithm runs for which call: it lists every algorithm, what it needs, and the
 * rule by which one of them is chosen.
 *
 * <p>The rule, see {@link AlgorithmRows#choose}:
 *
 * <ol>
 *   <li>The first algorithm in memory that all ranks see, if its conditions hold.
 *   <li>Else, of the algorithms that send messages, the one that {@link CostModel} predicts to take
 *       the least time; of two alike the first.
 *   <li>Or the hierarchical one, if it is predicted to take less time than that.
 * </ol>
 *
 * <p>{@link NamedAlgorithms} go before the rule.
 *
 * <p>All ranks choose alike, because a choice depends only on what they agree on.
 */
final class AlgorithmTable {

  private static Condition need(String otherwise, Predicate<Situation> test) {
    return new Condition(otherwise, false, test);
  }

  private static Condition wish(String otherwise, Predicate<Situation> test) {
    return new Condition(otherwise, true, test);
  }

  private static final Condition SLOTS =
      need(
          "needs all ranks on one host that share its memory, 8 KiB at the most, and no PREMUL_SUM",
          s -> s.access() == Access.SLOTS);
  private static final Condition REGION =
      need(
          "needs all ranks in one JVM, or on one host with more than 8 KiB in tensors from"
              + " allocate",
          s -> s.access().isRegion());
  private static final Condition HEAP =
      need("needs all ranks in one JVM", s -> s.access() == Access.HEAP);
  private static final Condition STAGING =
      need(
          "needs all ranks on one host that share its memory, each in a JVM of its own, more than"
              + " 8 KiB in tensors that are not all from allocate, and no PREMUL_SUM",
          s -> s.access() == Access.STAGING);
  private static final Condition FEW_BYTES_OF_ALL =
      need(
          "needs 16 KiB of all ranks together at the most",
          s -> s.ranks() * s.shape().bytes() <= CopiedAllReduce.MOST_BYTES_OF_ALL);
  private static final Condition IN_PLACE =
      need(
          "would round at every step, as elements are added up in a wider type",
          s -> !s.shape().widens());
  private static final Condition WIDER_SUMS =
      need("only pays where elements are added up in a wider type", s -> s.shape().widens());
  private static final Condition EQUAL_PARTS =
      need("needs parts of equal size", s -> s.shape().equalParts());
  private static final Condition THREE_RANKS = need("needs three ranks", s -> s.ranks() > 2);
  private static final Condition NODES =
      need("needs nodes of several ranks", s -> s.hierarchy().isPresent());
  private static final Condition NODES_SHARE_HEAP =
      need("needs several ranks in a JVM", Situation::sharesHeap);

  /**
   * How many times as many ranks may be connected to each other where sums are wider than elements:
   * only contributions take few bytes then, and each must reach the rank that adds them up.
   */
  private static final int WIDER_MESH = 3;

  private static final Condition MESH =
      wish(
          "connects each rank to each, in a group of more ranks than mesh of"
              + " spark.collectives.cost, or three times as many where elements are added up in a"
              + " wider type",
          s ->
              s.model()
                  .allowsMesh(
                      s.shape().widens() ? (s.ranks() + WIDER_MESH - 1) / WIDER_MESH : s.ranks()));
  private static final Condition NO_MESH =
      wish(
          "copies all once more, which a group of so few ranks can do without",
          s -> !s.model().allowsMesh(s.ranks()));
  private static final Condition UNDIVIDED =
      wish(
          "sends what each rank of a node gives to all others, and not their sum",
          s -> s.hierarchy().isEmpty() && s.racks().isEmpty());
  private static final Condition MORE_THAN_12_RANKS =
      wish(
          "sends parts by way of other ranks, which in groups of at most 12 ranks costs more than"
              + " the messages that it saves",
          s -> s.ranks() > 12);
  private static final Condition SMALL_PARTS =
      wish(
          "sends parts by way of other ranks, which for parts of more than 1 KiB costs more than"
              + " the messages that it saves",
          s -> s.shape().bytes() <= (1L << 10) * s.ranks());
  private static final Condition FAR_APART =
      wish(
          "sends each byte twice, which does not pay where the ranks share a host's memory",
          s -> s.reach() == Reach.NETWORK || s.reach() == Reach.RACKS);
  private static final Condition MORE_THAN_16_RANKS =
      wish(
          "sends each byte twice, which costs more in groups of at most 16 ranks",
          s -> s.ranks() > 16);
  private static final Condition AT_LEAST_512_KIB =
      wish(
          "sends more and shorter messages, which below 512 KiB cost more than they save",
          s -> s.shape().bytes() >= 512 << 10);
  private static final Condition AT_MOST_256_KIB =
      wish(
          "keeps copies of the tensor, which above 256 KiB costs more than the steps that it saves",
          s -> s.shape().bytes() <= Scratch.LARGEST_HELD_BYTES);
  private static final Condition AT_MOST_1_MIB =
      wish(
          "copies all once more, which above 1 MiB costs more than the steps that it saves",
          s -> s.shape().bytes() <= 1 << 20);

  final AlgorithmRows<Call.AllReduce> allReduce;
  final AlgorithmRows<Call.Reduce> reduce;
  final AlgorithmRows<Call.ReduceScatter> reduceScatter;
  final AlgorithmRows<Call.AllGather> allGather;
  final AlgorithmRows<Call.Broadcast> broadcast;
  final AlgorithmRows<Call.Gather> gather;
  final AlgorithmRows<Call.Scatter> scatter;
  final AlgorithmRows<Call.AllToAll> allToAll;
  final AlgorithmRows<Call.Barrier> barrier;

  /**
   * Creates the table of one thread, as its algorithms keep scratch memory.
   *
   * @param phases carries out the phases of hierarchical algorithms
   */
  AlgorithmTable(Phases phases) {
    Scratch scratch = new Scratch();
    Scratch between = new Scratch();
    SlotCollectives slots = new SlotCollectives();
    allReduce =
        new AlgorithmRows<>(
            OpType.ALL_REDUCE,
            List.of(
                inSlots(slots::allReduce),
                inMemory(new CopiedAllReduce(), HEAP, FEW_BYTES_OF_ALL),
                inMemory(new SharedAllReduce(), REGION),
                inMemory(new StagedAllReduce(), STAGING)),
            List.of(
                messages(new FlatAllReduce(scratch), MESH, AT_MOST_256_KIB),
                messages(new DirectAllReduce(scratch), MESH),
                messages(new PairwiseAllReduce(scratch), WIDER_SUMS, MESH, UNDIVIDED),
                messages(new RecursiveDoublingAllReduce(scratch), AT_MOST_256_KIB),
                messages(new HalvingDoublingAllReduce(scratch)),
                messages(new RingAllReduce(scratch))),
            List.of(hierarchical(new HierarchicalAllReduce(phases, between), NODES)));
    reduce =
        new AlgorithmRows<>(
            OpType.REDUCE,
            List.of(inSlots(slots::reduce), inMemory(new SharedReduce(), REGION)),
            List.of(
                messages(new BinomialReduce(), IN_PLACE),
                messages(new ChainReduce(scratch), IN_PLACE, THREE_RANKS),
                messages(new DirectReduce(scratch), WIDER_SUMS, MESH)),
            List.of(hierarchical(new HierarchicalReduce(phases, between), NODES)));
    reduceScatter =
        new AlgorithmRows<>(
            OpType.REDUCE_SCATTER,
            List.of(inSlots(slots::reduceScatter), inMemory(new SharedReduceScatter(), REGION)),
            List.of(
                messages(new RingReduceScatter()),
                messages(new DirectReduceScatter(scratch), MESH),
                messages(new BruckReduceScatter(scratch), NO_MESH, AT_MOST_1_MIB)),
            List.of(
                hierarchical(new HierarchicalReduceScatter(phases, between), NODES_SHARE_HEAP)));
    allGather =
        new AlgorithmRows<>(
            OpType.ALL_GATHER,
            List.of(inSlots(slots::allGather), inMemory(new SharedAllGather(), REGION)),
            List.of(
                messages(new RingAllGather()),
                messages(new FlatAllGather(), MESH),
                messages(new BruckAllGather(scratch), NO_MESH, AT_MOST_1_MIB)),
            List.of(hierarchical(new HierarchicalAllGather(phases), NODES_SHARE_HEAP)));
    broadcast =
        new AlgorithmRows<>(
            OpType.BROADCAST,
            List.of(inSlots(slots::broadcast), inMemory(new SharedBroadcast(), REGION)),
            List.of(
                messages(new BinomialBroadcast()),
                messages(new ChainBroadcast(), THREE_RANKS),
                messages(new ScatterBroadcast(), FAR_APART, MORE_THAN_16_RANKS, AT_LEAST_512_KIB)),
            List.of(hierarchical(new HierarchicalBroadcast(phases), NODES)));
    gather =
        new AlgorithmRows<>(
            OpType.GATHER,
            List.of(inMemory(new SharedGather(), HEAP)),
            List.of(messages(new LinearGather())),
            List.of());
    scatter =
        new AlgorithmRows<>(
            OpType.SCATTER,
            List.of(inMemory(new SharedScatter(), HEAP)),
            List.of(messages(new LinearScatter())),
            List.of());
    allToAll =
        new AlgorithmRows<>(
            OpType.ALL_TO_ALL,
            List.of(inSlots(slots::allToAll), inMemory(new SharedAllToAll(), REGION)),
            List.of(
                messages(new PairwiseAllToAll()),
                messages(new BruckAllToAll(scratch), EQUAL_PARTS, MORE_THAN_12_RANKS, SMALL_PARTS)),
            List.of(
                hierarchical(
                    new HierarchicalAllToAll(phases, between), NODES_SHARE_HEAP, EQUAL_PARTS)));
    barrier =
        new AlgorithmRows<>(
            OpType.BARRIER,
            List.of(inSlots(slots::barrier), inMemory(new SharedBarrier(), HEAP)),
            List.of(messages(new DisseminationBarrier())),
            List.of(hierarchical(new HierarchicalBarrier(phases), NODES)));
  }

  /** Returns the rows for a call. */
  @SuppressWarnings("unchecked") // The rows of a collective are for the calls of its type.
  <C extends Call<C>> AlgorithmRows<C> of(C call) {
    return (AlgorithmRows<C>) of(call.type());
  }

  /** Returns the rows of all collectives. */
  List<AlgorithmRows<?>> all() {
    return List.of(
        allReduce, reduce, reduceScatter, allGather, broadcast, gather, scatter, allToAll, barrier);
  }

  /** Returns the rows for a collective, by the type of its {@link Call}. */
  AlgorithmRows<?> of(OpType type) {
    return switch (type) {
      case ALL_REDUCE -> allReduce;
      case REDUCE -> reduce;
      case REDUCE_SCATTER -> reduceScatter;
      case ALL_GATHER -> allGather;
      case BROADCAST -> broadcast;
      case GATHER -> gather;
      case SCATTER -> scatter;
      case ALL_TO_ALL -> allToAll;
      case BARRIER -> barrier;
      default -> throw new IllegalArgumentException("No algorithm carries out " + type.label());
    };
  }

  private static <C> Row<C> inSlots(Algorithm<C> algorithm) {
    String name = SlotCollectives.class.getSimpleName();
    return new Row<>(Kind.IN_MEMORY, name, algorithm, situation -> Double.NaN, List.of(SLOTS));
  }

  private static <C> Row<C> inMemory(Algorithm<C> algorithm, Condition... conditions) {
    String name = algorithm.getClass().getSimpleName();
    return new Row<>(Kind.IN_MEMORY, name, algorithm, situation -> Double.NaN, List.of(conditions));
  }

  private static <C> Row<C> messages(MessageAlgorithm<C> algorithm, Condition... conditions) {
    return new Row<>(
        Kind.MESSAGES,
        algorithm.getClass().getSimpleName(),
        algorithm,
        s -> s.seconds(algorithm),
        List.of(conditions));
  }

  private static <C> Row<C> hierarchical(
      HierarchicalAlgorithm<C> algorithm, Condition... conditions) {
    return new Row<>(
        Kind.HIERARCHICAL,
        algorithm.getClass().getSimpleName(),
        algorithm,
        algorithm::seconds,
        List.of(conditions));
  }
}
