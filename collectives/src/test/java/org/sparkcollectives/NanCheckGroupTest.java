package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests operations whose input contains NaNs, where that is checked. */
@ExtendWith(LeakCheck.class)
class NanCheckGroupTest {

  private static final GroupOptions CHECKED = GroupOptions.defaults().withNanCheck(true);

  /** Returns an operation that begins with a tensor of two elements, on rank 0. */
  private static Arguments operation(String name, BiConsumer<ProcessGroup, Tensor> begin) {
    return Arguments.of(Named.of(name, begin));
  }

  private static Tensor room(int count) {
    return Tensor.allocate(DType.FLOAT32, count);
  }

  static Stream<Arguments> operations() {
    return Stream.of(
        operation("all-reduce", (world, bad) -> world.allReduce(bad, ReduceOp.SUM)),
        operation(
            "all-reduce-coalesced",
            (world, bad) -> world.allReduceCoalesced(List.of(room(1), bad), ReduceOp.SUM)),
        operation("reduce", (world, bad) -> world.reduce(bad, ReduceOp.SUM, 1)),
        operation("broadcast", (world, bad) -> world.broadcast(bad, 0)),
        operation("all-gather", (world, bad) -> world.allGather(room(4), bad)),
        operation("all-gather", (world, bad) -> world.allGather(List.of(room(2), room(2)), bad)),
        operation(
            "reduce-scatter", (world, bad) -> world.reduceScatter(room(1), bad, ReduceOp.SUM)),
        operation(
            "reduce-scatter",
            (world, bad) -> world.reduceScatter(room(2), List.of(bad, room(2)), ReduceOp.SUM)),
        operation("gather", (world, bad) -> world.gather(List.of(), bad, 1)),
        operation("scatter", (world, bad) -> world.scatter(room(2), List.of(room(2), bad), 0)),
        operation("all-to-all", (world, bad) -> world.allToAll(room(2), bad)),
        operation(
            "all-to-all",
            (world, bad) -> world.allToAll(List.of(room(1), room(2)), List.of(room(1), bad))),
        operation("send", (world, bad) -> world.send(bad, 1, 0)),
        operation(
            "send",
            (world, bad) ->
                world.batch(List.of(P2POp.send(room(1), 1, 0), P2POp.send(bad, 1, 1)))));
  }

  @ParameterizedTest
  @MethodSource("operations")
  void theElementIsNamedBeforeAnythingMoves(BiConsumer<ProcessGroup, Tensor> begin) {
    GroupRuns.run(
        2,
        CHECKED,
        world -> {
          if (world.rank() == 0) {
            assertThatThrownBy(() -> begin.accept(world, Tensor.of(new float[] {1, Float.NaN})))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("on rank 0 of 2: element 1 of the 2 of the ")
                .hasMessageContaining("is not a number");
          }
          // The group goes on, and no sequence number was taken.
          world.barrier().await();
          return null;
        });
  }

  @Test
  void onlyTheRootOfABroadcastGives() {
    GroupRuns.run(
        2,
        CHECKED,
        world -> {
          float[] values = {world.rank() == 0 ? 3 : Float.NaN};
          world.broadcast(Tensor.of(values), 0).await();
          assertThat(values).containsExactly(3);
          return null;
        });
  }

  @Test
  void aGroupMadeFromAnotherChecksAsThatOneDoes() {
    GroupRuns.run(
        2,
        CHECKED,
        world -> {
          try (ProcessGroup same = world.newGroup(0, 1);
              ProcessGroup other = world.newGroup(GroupOptions.defaults().withNanCheck(false))) {
            Tensor nan = Tensor.of(new float[] {Float.NaN});
            assertThatThrownBy(() -> same.allReduce(nan, ReduceOp.SUM))
                .isInstanceOf(IllegalArgumentException.class);
            other.allReduce(nan, ReduceOp.SUM).await();
          }
          return null;
        });
  }

  @Test
  void withoutTheCheckItIsPassedOn() {
    GroupRuns.run(
        2,
        GroupOptions.defaults(),
        world -> {
          float[] values = {Float.NaN};
          world.allReduce(Tensor.of(values), ReduceOp.SUM).await();
          assertThat(values[0]).isNaN();
          return null;
        });
  }
}
