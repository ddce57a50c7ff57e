package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.internal.algorithm.Contributions.values;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.heap.HeapGroup;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.RankThreads;

/** Operations of ranks that lie in JVMs, and these on hosts, in every way. */
class HierarchyTest {

  /** So large that it is cut in slices, and not divisible by anything. */
  private static final int COUNT = 40_009;

  /** With which what is inside a JVM costs nothing, and on a host little. */
  private static AlgorithmSelector selector() {
    return new AlgorithmSelector(
        new PathCosts(
            new CostModel(0, 0, 1e15, 8),
            new CostModel(1e-9, 1e-9, 1e12, 8),
            new CostModel(1e-3, 1e-4, 1e9, 8),
            new CostModel(2e-3, 1e-4, 1e8, 8)));
  }

  /** Where ranks are: for each its JVM, and for each its host. */
  private record Layout(
      String name, List<Integer> jvms, List<Integer> hosts, Optional<Locality> racks) {

    static Layout of(String jvms, String hosts) {
      return new Layout(jvms + " on " + hosts, numbers(jvms), numbers(hosts), Optional.empty());
    }

    static Layout of(String jvms, String hosts, String racks) {
      return new Layout(
          jvms + " on " + hosts + " in " + racks,
          numbers(jvms),
          numbers(hosts),
          Optional.of(Locality.of(numbers(racks))));
    }

    private static List<Integer> numbers(String names) {
      return names.chars().boxed().toList();
    }

    int size() {
      return jvms.size();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Layout> layouts() {
    return Stream.of(
        Layout.of("aabb", "xxyy"),
        Layout.of("abbb", "xyyy"),
        Layout.of("aabbb", "xxxxx"),
        Layout.of("aaaabbc", "xxxxyyz"),
        Layout.of("abcabca", "xxyxxyx"),
        // Three levels: JVMs of two ranks, two of which share each host.
        Layout.of("aabbccdd", "xxxxyyyy"),
        // Three levels, uneven at each.
        Layout.of("aaabbcdd", "xxxxxyyy"),
        // JVMs of one rank, several on a host: messages at both levels.
        Layout.of("abcde", "xxyyy"),
        // Racks of hosts of one rank each, in any order.
        Layout.of("abcd", "vwxy", "1212"),
        Layout.of("abcdefg", "tuvwxyz", "1231212"),
        // Racks of hosts of JVMs.
        Layout.of("aabbccdd", "wwxxyyzz", "11221122"),
        Layout.of("aabbbccd", "xxxxxyyz", "11111222"),
        Layout.of("abcdef", "xxyyzz", "112222"));
  }

  /** Those with several ranks in a JVM. */
  static Stream<Layout> layoutsInJvms() {
    return layouts().filter(layout -> Locality.of(layout.jvms()).isDivided());
  }

  /** What one rank does. */
  private interface Body {
    void run(AlgorithmSelector selector, CountingPeers peers);
  }

  private static List<CountingPeers> run(Layout layout, Body body) {
    HeapGroup messages = new HeapGroup();
    ConcurrentMap<Integer, HeapGroup> heaps = new ConcurrentHashMap<>();
    Locality jvms = Locality.of(layout.jvms());
    return RankThreads.run(
        layout.size(),
        rank -> {
          CountingPeers peers = new CountingPeers(messages, rank, layout.size());
          HeapGroup heap = heaps.computeIfAbsent(jvms.node(rank), node -> new HeapGroup());
          peers.divide(heap, jvms, Locality.of(layout.hosts()), layout.racks().orElse(null));
          body.run(selector(), peers);
          return peers;
        });
  }

  private static final int[] COUNTS = {0, 1, 100, COUNT};

  private static final List<DType> TYPES = List.of(DType.FLOAT32, DType.BFLOAT16);

  @ParameterizedTest
  @MethodSource("layouts")
  void anAllReduceAddsUpAllRanks(Layout layout) {
    run(
        layout,
        (selector, peers) -> {
          for (DType dtype : TYPES) {
            for (int count : COUNTS) {
              HostTensor tensor = Contributions.of(dtype, peers.rank(), count);
              selector.run(peers, Call.allReduce(tensor, ReduceOp.SUM));
              assertThat(values(tensor)).isEqualTo(Contributions.sum(layout.size(), 0, count));
              HostTensor product = Contributions.of(dtype, peers.rank(), count);
              selector.run(peers, Call.allReduce(product, ReduceOp.premulSum(2)));
              float[] twice = Contributions.sum(layout.size(), 0, count);
              for (int i = 0; i < count; i++) {
                twice[i] *= 2;
              }
              assertThat(values(product)).isEqualTo(twice);
            }
          }
        });
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void aReduceAddsUpAtTheRootAndLeavesTheOthersAlone(Layout layout) {
    run(
        layout,
        (selector, peers) -> {
          for (int root = 0; root < layout.size(); root++) {
            for (DType dtype : TYPES) {
              for (int count : COUNTS) {
                HostTensor tensor = Contributions.of(dtype, peers.rank(), count);
                selector.run(peers, Call.reduce(tensor, ReduceOp.SUM, root));
                float[] expected =
                    peers.rank() == root
                        ? Contributions.sum(layout.size(), 0, count)
                        : values(Contributions.of(dtype, peers.rank(), count));
                assertThat(values(tensor)).isEqualTo(expected);
              }
            }
          }
        });
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void aBroadcastReachesAll(Layout layout) {
    run(
        layout,
        (selector, peers) -> {
          for (int root = 0; root < layout.size(); root++) {
            for (int count : COUNTS) {
              HostTensor tensor = Contributions.of(DType.FLOAT32, peers.rank(), count);
              selector.run(peers, new Call.Broadcast(tensor, root));
              assertThat(values(tensor))
                  .isEqualTo(values(Contributions.of(DType.FLOAT32, root, count)));
            }
          }
        });
  }

  @ParameterizedTest
  @MethodSource("layoutsInJvms")
  void anAllGatherHasThePartsOfAllEqualOrNot(Layout layout) {
    run(
        layout,
        (selector, peers) -> {
          for (int count : COUNTS) {
            for (boolean equal : new boolean[] {true, false}) {
              List<HostTensor> outputs =
                  IntStream.range(0, layout.size())
                      .mapToObj(
                          rank -> HostTensor.allocate(DType.FLOAT32, equal ? count : count + rank))
                      .toList();
              int own = (int) outputs.get(peers.rank()).count();
              selector.run(
                  peers,
                  Call.allGather(outputs, Contributions.of(DType.FLOAT32, peers.rank(), own)));
              for (int rank = 0; rank < layout.size(); rank++) {
                int size = (int) outputs.get(rank).count();
                assertThat(values(outputs.get(rank)))
                    .isEqualTo(values(Contributions.of(DType.FLOAT32, rank, size)));
              }
            }
          }
        });
  }

  @ParameterizedTest
  @MethodSource("layoutsInJvms")
  void aReduceScatterAddsUpThePartOfEach(Layout layout) {
    run(
        layout,
        (selector, peers) -> {
          for (DType dtype : TYPES) {
            for (int part : new int[] {0, 1, 50, COUNT / 7}) {
              HostTensor input = Contributions.of(dtype, peers.rank(), part * layout.size());
              HostTensor output = HostTensor.allocate(dtype, part);
              new HierarchicalReduceScatter(selector, new Scratch())
                  .run(
                      peers,
                      new Call.ReduceScatter(
                          output,
                          Chunks.equal(input, layout.size()),
                          ReduceKernels.of(ReduceOp.SUM, dtype)));
              assertThat(values(output))
                  .isEqualTo(Contributions.sum(layout.size(), peers.rank() * part, part));
              assertThat(values(input))
                  .isEqualTo(values(Contributions.of(dtype, peers.rank(), part * layout.size())));
            }
          }
        });
  }

  @ParameterizedTest
  @MethodSource("layoutsInJvms")
  void anAllToAllGivesEachItsPart(Layout layout) {
    run(
        layout,
        (selector, peers) -> {
          for (int part : new int[] {0, 1, 50, 3_001}) {
            HostTensor input = Contributions.of(DType.FLOAT32, peers.rank(), part * layout.size());
            HostTensor output = HostTensor.allocate(DType.FLOAT32, (long) part * layout.size());
            new HierarchicalAllToAll(selector, new Scratch())
                .run(
                    peers,
                    new Call.AllToAll(
                        Chunks.equal(output, layout.size()),
                        Chunks.equal(input, layout.size()),
                        true));
            for (int rank = 0; rank < layout.size(); rank++) {
              float[] theirs = values(Contributions.of(DType.FLOAT32, rank, part * layout.size()));
              assertThat(Arrays.copyOfRange(values(output), rank * part, (rank + 1) * part))
                  .isEqualTo(
                      Arrays.copyOfRange(theirs, peers.rank() * part, (peers.rank() + 1) * part));
            }
          }
        });
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void aBarrierEndsForNobodyBeforeAllHaveCome(Layout layout) {
    ConcurrentMap<Integer, Integer> come = new ConcurrentHashMap<>();
    run(
        layout,
        (selector, peers) -> {
          for (int round = 1; round <= 200; round++) {
            come.put(peers.rank(), round);
            selector.run(peers, new Call.Barrier());
            for (int rank = 0; rank < layout.size(); rank++) {
              assertThat(come.get(rank)).isGreaterThanOrEqualTo(round);
            }
          }
        });
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void ranksOfAJvmSendEachOtherNoMessages(Layout layout) {
    Locality jvms = Locality.of(layout.jvms());
    boolean even = jvms.smallest() == jvms.largest();
    for (CountingPeers rank :
        run(
            layout,
            (selector, peers) -> {
              HostTensor tensor = Contributions.of(DType.FLOAT32, peers.rank(), COUNT);
              selector.run(peers, Call.allReduce(tensor, ReduceOp.SUM));
              selector.run(peers, Call.reduce(tensor, ReduceOp.SUM, 1));
              selector.run(peers, new Call.Broadcast(tensor, 2));
              selector.run(peers, new Call.Barrier());
              if (even) {
                HostTensor whole = HostTensor.allocate(DType.FLOAT32, 40L * layout.size());
                HostTensor other = HostTensor.allocate(DType.FLOAT32, whole.count());
                selector.run(peers, Call.allGather(whole, other.slice(0, 40), peers.size()));
                selector.run(
                    peers,
                    Call.reduceScatter(other.slice(0, 40), whole, ReduceOp.SUM, peers.size()));
                selector.run(peers, Call.allToAll(other, whole, peers.size()));
              }
            })) {
      for (int peer = 0; peer < layout.size(); peer++) {
        if (jvms.node(peer) == jvms.node(rank.rank())) {
          assertThat(rank.uses(peer)).as("rank %s and %s", rank.rank(), peer).isFalse();
        }
      }
    }
  }
}
