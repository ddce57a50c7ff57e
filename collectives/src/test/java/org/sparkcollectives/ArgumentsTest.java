package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests every check of an argument: each wrong call is refused on the rank that made it, with the
 * operation, the rank and the reason. None takes a sequence number, so the group goes on.
 */
@ExtendWith(LeakCheck.class)
class ArgumentsTest {

  private static final int SIZE = 3;

  /** A wrong call, and the reason that the refusal states. */
  private record Wrong(String operation, String reason, Consumer<ProcessGroup> call) {}

  private final List<Wrong> wrongs = new ArrayList<>();

  private void refused(String operation, String reason, Consumer<ProcessGroup> call) {
    wrongs.add(new Wrong(operation, reason, call));
  }

  private static Tensor floats(int count) {
    return Tensor.of(new float[count]);
  }

  private static List<Tensor> list(Tensor... tensors) {
    return Arrays.asList(tensors);
  }

  private static List<Tensor> each(int count) {
    return list(floats(count), floats(count), floats(count));
  }

  /** Returns a tensor of a foreign implementation. */
  private static Tensor foreign() {
    return (Tensor)
        Proxy.newProxyInstance(
            Tensor.class.getClassLoader(), new Class<?>[] {Tensor.class}, (a, b, c) -> null);
  }

  @Test
  void aRootOrPeerOutsideOfTheGroupIsRefused() {
    for (int root : new int[] {-1, SIZE, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      String reason = "the root must be 0 to 2, not " + root;
      refused("broadcast", reason, g -> g.broadcast(floats(1), root));
      refused("reduce", reason, g -> g.reduce(floats(1), ReduceOp.SUM, root));
      refused("gather", reason, g -> g.gather(List.of(), floats(1), root));
      refused("scatter", reason, g -> g.scatter(floats(1), List.of(), root));
      String peer = "the peer must be 0 to 2, not " + root;
      refused("send", peer, g -> g.send(floats(1), root, 0));
      refused("recv", peer, g -> g.recv(floats(1), root, 0));
      refused("batch", peer, g -> g.batch(List.of(P2POp.send(floats(1), root, 0))));
      refused("batch", peer, g -> g.batch(List.of(P2POp.recv(floats(1), root, 0))));
    }
    String self = "the peer is this very rank";
    refused("send", self, g -> g.send(floats(1), g.rank(), 0));
    refused("recv", self, g -> g.recv(floats(1), g.rank(), 0));
    refused("batch", self, g -> g.batch(List.of(P2POp.recv(floats(1), g.rank(), 0))));
    areRefusedAndTheGroupGoesOn();
  }

  @Test
  void aNegativeTagIsRefused() {
    String reason = "the tag must not be negative, but is -7";
    refused("send", reason, g -> g.send(floats(1), next(g), -7));
    refused("recv", reason, g -> g.recv(floats(1), next(g), -7));
    refused("recv-any", reason, g -> g.recvAny(floats(1), -7));
    refused("batch", reason, g -> g.batch(List.of(P2POp.send(floats(1), next(g), -7))));
    refused("batch", "at least one operation", g -> g.batch(List.of()));
    areRefusedAndTheGroupGoesOn();
  }

  private static int next(ProcessGroup group) {
    return (group.rank() + 1) % SIZE;
  }

  @Test
  void whatIsNoTensorOfThisLibraryIsRefused() {
    for (Tensor bad : new Tensor[] {null, foreign()}) {
      String reason = bad == null ? "is null" : "tensor";
      refused("broadcast", reason, g -> g.broadcast(bad, 0));
      refused("all-reduce", reason, g -> g.allReduce(bad, ReduceOp.SUM));
      refused("all-reduce-coalesced", reason, g -> g.allReduceCoalesced(list(bad), ReduceOp.SUM));
      refused("reduce", reason, g -> g.reduce(bad, ReduceOp.SUM, 0));
      refused("all-gather", reason, g -> g.allGather(floats(3), bad));
      refused("all-gather", reason, g -> g.allGather(bad, floats(1)));
      refused("all-gather", reason, g -> g.allGather(list(floats(1), bad, bad), floats(1)));
      refused("gather", reason, g -> g.gather(List.of(), bad, next(g)));
      refused("gather", reason, g -> g.gather(list(bad, bad, bad), floats(1), g.rank()));
      refused("scatter", reason, g -> g.scatter(bad, List.of(), next(g)));
      refused("scatter", reason, g -> g.scatter(floats(1), list(bad, bad, bad), g.rank()));
      refused("reduce-scatter", reason, g -> g.reduceScatter(bad, floats(3), ReduceOp.SUM));
      refused("reduce-scatter", reason, g -> g.reduceScatter(floats(1), bad, ReduceOp.SUM));
      refused(
          "reduce-scatter",
          reason,
          g -> g.reduceScatter(floats(1), list(bad, bad, bad), ReduceOp.SUM));
      refused("all-to-all", reason, g -> g.allToAll(floats(3), bad));
      refused("all-to-all", reason, g -> g.allToAll(floats(3), bad, null, null));
      refused("all-to-all", reason, g -> g.allToAll(each(1), list(floats(1), floats(1), bad)));
      refused("send", reason, g -> g.send(bad, next(g), 0));
      refused("recv", reason, g -> g.recv(bad, next(g), 0));
      refused("recv-any", reason, g -> g.recvAny(bad, 0));
    }
    areRefusedAndTheGroupGoesOn();
  }

  @Test
  void aListOfAnotherLengthThanTheGroupsIsRefused() {
    for (List<Tensor> bad : List.of(List.<Tensor>of(), list(floats(1), floats(1)))) {
      String reason = "must hold one tensor for each of 3 ranks, not " + bad.size();
      refused("all-gather", reason, g -> g.allGather(bad, floats(1)));
      refused("gather", reason, g -> g.gather(bad, floats(1), g.rank()));
      refused("scatter", reason, g -> g.scatter(floats(1), bad, g.rank()));
      refused("reduce-scatter", reason, g -> g.reduceScatter(floats(1), bad, ReduceOp.SUM));
      refused("all-to-all", reason, g -> g.allToAll(bad, each(1)));
      refused("all-to-all", reason, g -> g.allToAll(each(1), bad));
    }
    String atRootOnly = "must be empty on ranks other than the root";
    refused("gather", atRootOnly, g -> g.gather(each(1), floats(1), next(g)));
    refused("scatter", atRootOnly, g -> g.scatter(floats(1), each(1), next(g)));
    String empty = "requires a non-empty tensor list";
    refused("all-reduce-coalesced", empty, g -> g.allReduceCoalesced(List.of(), ReduceOp.SUM));
    refused("all-reduce-coalesced", empty, g -> g.allReduceCoalesced(null, ReduceOp.SUM));
    String none = "is null";
    refused("all-gather", none, g -> g.allGather((List<Tensor>) null, floats(1)));
    refused("gather", none, g -> g.gather(null, floats(1), g.rank()));
    refused("gather", none, g -> g.gather(null, floats(1), next(g)));
    refused("scatter", none, g -> g.scatter(floats(1), null, next(g)));
    areRefusedAndTheGroupGoesOn();
  }

  @Test
  void typesThatDifferAreRefused() {
    Tensor ints = Tensor.of(1, 2, 3);
    String reason = "they must be alike";
    List<Tensor> mixed = list(floats(1), Tensor.of(1.0), floats(1));
    refused("all-gather", reason, g -> g.allGather(ints, floats(1)));
    refused("all-gather", reason, g -> g.allGather(mixed, floats(1)));
    refused("gather", reason, g -> g.gather(mixed, floats(1), g.rank()));
    refused("scatter", reason, g -> g.scatter(floats(1), mixed, g.rank()));
    refused("reduce-scatter", reason, g -> g.reduceScatter(floats(1), ints, ReduceOp.SUM));
    refused("reduce-scatter", reason, g -> g.reduceScatter(floats(1), mixed, ReduceOp.SUM));
    refused("all-to-all", reason, g -> g.allToAll(floats(3), ints));
    refused("all-to-all", reason, g -> g.allToAll(floats(3), ints, null, null));
    refused("all-to-all", reason, g -> g.allToAll(each(1), mixed));
    refused("all-to-all", reason, g -> g.allToAll(mixed, each(1)));
    refused("all-reduce-coalesced", reason, g -> g.allReduceCoalesced(mixed, ReduceOp.SUM));
    areRefusedAndTheGroupGoesOn();
  }

  @Test
  void countsThatDoNotFitAreRefused() {
    refused("all-gather", "3, not 4", g -> g.allGather(floats(4), floats(1)));
    refused("reduce-scatter", "3, not 4", g -> g.reduceScatter(floats(1), floats(4), ReduceOp.SUM));
    String own = "is this rank's part and must have 2 elements, not 1";
    refused("all-gather", own, g -> g.allGather(each(1), floats(2)));
    refused("gather", own, g -> g.gather(each(1), floats(2), g.rank()));
    refused("scatter", own, g -> g.scatter(floats(2), each(1), g.rank()));
    refused("reduce-scatter", own, g -> g.reduceScatter(floats(2), each(1), ReduceOp.SUM));
    refused("all-to-all", own, g -> g.allToAll(each(1), each(2)));
    refused("all-to-all", "do not divide equally", g -> g.allToAll(floats(4), floats(4)));
    refused("all-to-all", "must have the 6 elements", g -> g.allToAll(floats(3), floats(6)));
    areRefusedAndTheGroupGoesOn();
  }

  @Test
  void splitsThatDoNotFitAreRefused() {
    long[] ones = {1, 1, 1};
    refused(
        "all-to-all",
        "the number of input splits, 2, is not the group's size 3",
        g -> g.allToAll(floats(3), Tensor.of(new float[3]), ones, new long[] {1, 2}));
    refused(
        "all-to-all",
        "input splits [1, 1, 2] add up to 4, not to the first dimension 3",
        g -> g.allToAll(floats(3), floats(3), ones, new long[] {1, 1, 2}));
    refused(
        "all-to-all",
        "output splits [9, 9, 9] add up to 27",
        g -> g.allToAll(floats(3), floats(3), new long[] {9, 9, 9}, ones));
    refused(
        "all-to-all",
        "an input split is negative: -1",
        g -> g.allToAll(floats(3), floats(3), ones, new long[] {-1, 2, 2}));
    refused(
        "all-to-all",
        "does not divide equally across 3 ranks",
        g -> g.allToAll(floats(4), floats(4), null, null));
    areRefusedAndTheGroupGoesOn();
  }

  @Test
  void aReductionThatTheTypeHasNotIsRefused() {
    Tensor complex = Tensor.wrap(DType.COMPLEX64, new float[6]);
    Tensor one = Tensor.wrap(DType.COMPLEX64, new float[2]);
    String reason = "MAX is not defined for complex64";
    refused("all-reduce", reason, g -> g.allReduce(complex, ReduceOp.MAX));
    refused("reduce", reason, g -> g.reduce(complex, ReduceOp.MAX, 0));
    refused("all-reduce-coalesced", reason, g -> g.allReduceCoalesced(list(one), ReduceOp.MAX));
    refused("reduce-scatter", reason, g -> g.reduceScatter(one, complex, ReduceOp.MAX));
    refused("reduce-scatter", reason, g -> g.reduceScatter(one, list(one, one, one), ReduceOp.MAX));
    refused(
        "all-reduce",
        "BAND is not defined for float32",
        g -> g.allReduce(floats(1), ReduceOp.BAND));
    refused(
        "all-reduce",
        "AVG is not defined for bool",
        g -> g.allReduce(Tensor.of(true), ReduceOp.AVG));
    refused(
        "all-reduce",
        "PREMUL_SUM(2.0) is not defined for int32",
        g -> g.allReduce(Tensor.of(1), ReduceOp.premulSum(2)));
    refused(
        "all-reduce",
        "SUM is not defined for float8_e4m3",
        g -> g.allReduce(Tensor.wrap(DType.FLOAT8_E4M3, new byte[1]), ReduceOp.SUM));
    refused(
        "all-reduce-sparse",
        "SUM is not defined for float8_e5m2",
        g ->
            g.allReduce(
                SparseTensor.of(
                    new long[] {1},
                    Tensor.of(0L).reshape(1, 1),
                    Tensor.wrap(DType.FLOAT8_E5M2, new byte[1]))));
    areRefusedAndTheGroupGoesOn();
  }

  @Test
  void aRankAloneHasNobodyToReceiveFrom() {
    GroupRuns.run(
        1,
        GroupOptions.defaults(),
        group -> {
          assertThatThrownBy(() -> group.recvAny(floats(1), 0))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("this rank is alone in the group");
          return null;
        });
  }

  @Test
  void membersThatCannotBeAreRefused() {
    refused("new-group", "must not contain duplicate entries, got [1, 1]", g -> g.newGroup(1, 1));
    refused("new-group", "rank 3 is not in this group", g -> g.newGroup(0, 3));
    refused("new-group", "rank -1 is not in this group", g -> g.newGroup(-1));
    String subgroups = "new-subgroups";
    refused(subgroups, "the group size (0) must be positive", g -> g.newSubgroups(0));
    refused(subgroups, "the group size (-3) must be positive", g -> g.newSubgroups(-3));
    refused(
        subgroups, "the group size (9) must not exceed the world size (3)", g -> g.newSubgroups(9));
    refused(subgroups, "(3) must be divisible by the group size (2)", g -> g.newSubgroups(2));
    refused(subgroups, "list of groups cannot be empty", g -> g.newSubgroups(List.of()));
    refused(subgroups, "a group must have a member", g -> g.newSubgroups(List.of(new int[0])));
    refused(
        subgroups,
        "rank 1 has appeared in both [0, 1] and [1, 2]",
        g -> g.newSubgroups(List.of(new int[] {0, 1}, new int[] {1, 2})));
    refused("new-group", "duplicate entries", g -> g.newSubgroups(List.of(new int[] {2, 2})));
    refused("new-group", "rank 7 is not in", g -> g.newSubgroups(List.of(new int[] {7})));
    refused("shrink", "name at least one rank to exclude", ProcessGroup::shrink);
    refused("shrink", "rank 3 is out of bounds; valid ranks are 0 to 2", g -> g.shrink(3));
    refused("shrink", "all 3 ranks are excluded", g -> g.shrink(0, 1, 2));
    refused("shrink", "this rank is in the list of excluded ranks", g -> g.shrink(g.rank()));
    areRefusedAndTheGroupGoesOn();
  }

  @Test
  void aRankOutsideOfTheWorldIsRefused() {
    try (HashStore store = new HashStore()) {
      for (int[] wrong : new int[][] {{-1, 2}, {2, 2}, {0, 0}, {0, -1}}) {
        assertThatThrownBy(
                () -> ProcessGroups.create(store, wrong[0], wrong[1], GroupOptions.defaults()))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(
                "The rank must be 0 to size - 1, but is " + wrong[0] + " of " + wrong[1]);
      }
      assertThat(store.listKeys()).isEmpty();
    }
    GroupRuns.run(
        2,
        GroupOptions.defaults(),
        group -> {
          for (int wrong : new int[] {-1, 2}) {
            assertThatThrownBy(() -> group.globalRank(wrong))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has ranks 0 to 1, not " + wrong);
            assertThatThrownBy(() -> group.groupRank(wrong))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Global rank " + wrong + " is not in group");
          }
          return null;
        });
  }

  @Test
  void aBatchHoldsSendsAndReceives() {
    Tensor tensor = floats(1);
    assertThatThrownBy(() -> new P2POp(OpType.BROADCAST, tensor, 1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("A batch holds sends and receives, not BROADCAST");
    assertThatThrownBy(() -> P2POp.send(null, 1, 0))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("tensor");
  }

  private void areRefusedAndTheGroupGoesOn() {
    GroupRuns.run(
        SIZE,
        GroupOptions.defaults(),
        group -> {
          for (int i = 0; i < wrongs.size(); i++) {
            Wrong wrong = wrongs.get(i);
            assertThatThrownBy(() -> wrong.call.accept(group))
                .as("call %d, %s", i, wrong)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                    wrong.operation + " of group \"" + group.name() + "\" on rank " + group.rank())
                .hasMessageContaining(wrong.reason);
          }
          int[] sum = {1};
          Work work = group.allReduce(Tensor.of(sum), ReduceOp.SUM);
          work.await();
          assertThat(work.sequenceNumber()).isZero();
          assertThat(sum).containsExactly(SIZE);
          assertThat(group.flightRecorder().records()).hasSize(1);
          return null;
        });
  }
}
