package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests that with DETAIL all ranks learn which calls did not match. */
@ExtendWith(LeakCheck.class)
class DetailTest {

  private static GroupOptions detail(String... transports) {
    return GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL).withTransports(transports);
  }

  private record Call(String text, Consumer<ProcessGroup> body) {}

  private static Call call(String text, Function<ProcessGroup, Work> body) {
    return new Call(text, group -> body.apply(group).await());
  }

  static Stream<Arguments> callsThatDoNotBelongTogether() {
    Call sum =
        call(
            "all-reduce #0 of float32 [4], SUM",
            g -> g.allReduce(Tensor.of(new float[4]), ReduceOp.SUM));
    return Stream.of(
        Arguments.of(
            sum,
            call(
                "all-reduce #0 of float32 [4], MAX",
                g -> g.allReduce(Tensor.of(new float[4]), ReduceOp.MAX))),
        Arguments.of(
            sum,
            call(
                "all-reduce #0 of float32 [2, 2], SUM",
                g -> g.allReduce(Tensor.of(new float[4]).reshape(2, 2), ReduceOp.SUM))),
        Arguments.of(
            sum,
            call(
                "all-reduce #0 of int32 [4], SUM",
                g -> g.allReduce(Tensor.of(new int[4]), ReduceOp.SUM))),
        Arguments.of(
            sum,
            call(
                "reduce #0 of float32 [4], SUM, root 1",
                g -> g.reduce(Tensor.of(new float[4]), ReduceOp.SUM, 1))),
        Arguments.of(sum, call("barrier #0", ProcessGroup::barrier)),
        Arguments.of(
            sum,
            call(
                "all-reduce-coalesced #0 of float32 [3] [1], SUM",
                g ->
                    g.allReduceCoalesced(
                        List.of(Tensor.of(new float[3]), Tensor.of(new float[1])), ReduceOp.SUM))),
        Arguments.of(
            call("broadcast #0 of int32 [1], root 0", g -> g.broadcast(Tensor.of(new int[1]), 0)),
            call("broadcast #0 of int32 [1], root 2", g -> g.broadcast(Tensor.of(new int[1]), 2))));
  }

  @ParameterizedTest
  @MethodSource("callsThatDoNotBelongTogether")
  void aMismatchFailsEveryRankNamingBothRanksAndBothCalls(Call usual, Call odd) {
    for (String transport : new String[] {"heap", "tcp"}) {
      GroupRuns.run(
          4,
          detail(transport),
          group -> {
            assertThatThrownBy(() -> (group.rank() == 2 ? odd : usual).body.accept(group))
                .isInstanceOfSatisfying(
                    CollectiveMismatchException.class,
                    e ->
                        assertThat(e.calls())
                            .extracting(each -> each.rank() + " " + each)
                            .containsExactly("0 " + usual.text, "2 " + odd.text))
                .hasMessageContaining("rank 0 calls " + usual.text + "\n")
                .hasMessageContaining("rank 2 calls " + odd.text + "\n")
                .hasMessageContaining("3 of 4 ranks call the first");
            return null;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"heap", "tcp"})
  void splitsThatDoNotFitAreNamedWithBothSides(String transport) {
    GroupRuns.run(
        3,
        detail(transport),
        group -> {
          long[] splits = {2, 2, 2};
          long[] wrong = {3, 1, 2};
          long[] outputs = group.rank() == 2 ? wrong : splits;
          assertThatThrownBy(
                  () ->
                      group
                          .allToAll(Tensor.of(new long[6]), Tensor.of(new long[6]), outputs, splits)
                          .await())
              .isInstanceOfSatisfying(
                  CollectiveMismatchException.class,
                  e ->
                      assertThat(e.calls())
                          .extracting(each -> each.rank() + " x " + each.count())
                          .containsExactly("0 x 2", "2 x 3"))
              .hasMessageContaining("Ranks give different sizes in all-to-all #0 of int64")
              .hasMessageContaining("rank 0 sends 2 elements to rank 2\n")
              .hasMessageContaining("rank 2 expects 3 elements from rank 0");
          return null;
        });
    GroupRuns.run(
        2,
        detail(transport),
        group -> {
          Tensor input = Tensor.of(new int[5]);
          List<Tensor> outputs =
              group.rank() == 0 ? List.of(Tensor.of(new int[5]), Tensor.of(new int[4])) : List.of();
          assertThatThrownBy(() -> group.gather(outputs, input, 0).await())
              .hasMessageContaining("rank 1 sends 5 elements to rank 0\n")
              .hasMessageContaining("rank 0 expects 4 elements from rank 1");
          return null;
        });
  }

  @Test
  void messagesAreComparedByTheirTwoRanksAlone() {
    GroupRuns.run(
        3,
        detail("heap"),
        group -> {
          int[] value = {group.rank()};
          if (group.rank() == 0) {
            group.send(Tensor.of(value), 1, 0).await();
          } else if (group.rank() == 1) {
            group.recv(Tensor.of(value), 0, 0).await();
            assertThat(value).containsExactly(0);
          }
          group.barrier().await();
          return null;
        });
  }

  @Test
  void factorsMayDifferByRank() {
    GroupRuns.run(
        3,
        detail("heap"),
        group -> {
          double[] data = {1};
          group.allReduce(Tensor.of(data), ReduceOp.premulSum(group.rank() + 1)).await();
          assertThat(data).containsExactly(6);
          return null;
        });
  }
}
