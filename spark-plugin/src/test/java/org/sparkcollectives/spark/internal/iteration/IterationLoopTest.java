package org.sparkcollectives.spark.internal.iteration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.spark.iteration.Contribution;
import org.sparkcollectives.spark.iteration.IterationException;
import org.sparkcollectives.spark.iteration.IterationResult;
import org.sparkcollectives.spark.iteration.LossFunction;
import org.sparkcollectives.spark.iteration.StateUpdate;
import org.sparkcollectives.spark.iteration.StopCondition;

/** Tests the loop of ranks that are threads. */
class IterationLoopTest extends LoopsOfThreads {

  @Test
  void theStateIsUpdatedWithTheSumOfAllRanks() {
    IterationResult<double[]> result = result(functions(OWN, MEAN), 4, 0, numbers(10));
    assertThat(result.state()).containsExactly(18);
    assertThat(result.iterations()).isEqualTo(4);
    assertThat(result.converged()).isFalse();
    assertThat(result.losses()).isEmpty();
  }

  @Test
  void allRanksSeeEachState() {
    Set<String> seen = ConcurrentHashMap.newKeySet();
    Contribution<double[], Integer> noting =
        (state, data, i) -> {
          seen.add(data + " in " + i + ": " + state[0]);
          return numbers(data);
        };
    result(functions(noting, MEAN), 2, 0, numbers(10));
    assertThat(seen)
        .containsExactlyInAnyOrder(
            "1 in 1: 10.0",
            "2 in 1: 10.0",
            "3 in 1: 10.0",
            "1 in 2: 12.0",
            "2 in 2: 12.0",
            "3 in 2: 12.0");
  }

  @Test
  void aStateMayBeAnyObjectAndGrow() {
    Contribution<List<Double>, Integer> size = (state, data, i) -> numbers(data * state.size());
    StateUpdate<List<Double>> append =
        (state, sum, i) -> {
          List<Double> next = new ArrayList<>(state);
          next.add(sum[0]);
          return next;
        };
    IterationResult<List<Double>> result =
        result(functions(size, append), 3, 0, new ArrayList<>(List.of(1.0)));
    assertThat(result.state()).containsExactly(1.0, 6.0, 12.0, 18.0);
  }

  @Test
  void theStopConditionEndsTheLoopWithTheStateThatMetIt() {
    StopCondition<double[]> above = (previous, next, i) -> previous[0] >= 14 && next[0] >= 16;
    IterationFunctions<double[], Integer> functions =
        new IterationFunctions<>(OWN, MEAN, above, null);
    IterationResult<double[]> early = result(functions, 10, 0, numbers(10));
    assertThat(early.state()).containsExactly(16);
    assertThat(early.iterations()).isEqualTo(3);
    assertThat(early.converged()).isTrue();
    assertThat(result(functions, 3, 0, numbers(10)).converged()).isTrue();
    assertThat(result(functions, 2, 0, numbers(10)).converged()).isFalse();
  }

  @Test
  void anObjectAsStateIsStoppedToo() {
    Contribution<String, Integer> own = (state, data, i) -> numbers(data);
    StateUpdate<String> append = (state, sum, i) -> state + "+" + sum[0];
    IterationResult<String> result =
        result(
            new IterationFunctions<>(own, append, (before, after, i) -> i == 2, null), 10, 0, "0");
    assertThat(result.state()).isEqualTo("0+6.0+6.0");
    assertThat(result.iterations()).isEqualTo(2);
  }

  @Test
  void numbersThatAreUpdatedInPlaceAreComparedWithWhatTheyWere() {
    StateUpdate<double[]> inPlace =
        (state, sum, i) -> {
          state[0] += 1.0 / i;
          return state;
        };
    StopCondition<double[]> small = (previous, next, i) -> next[0] - previous[0] < 0.3;
    IterationResult<double[]> result =
        result(new IterationFunctions<>(OWN, inPlace, small, null), 10, 0, numbers(0));
    assertThat(result.iterations()).isEqualTo(4);
  }

  @Test
  void theLossIsThatOfTheStateBeforeTheUpdateAndIsReported() {
    LossFunction<double[]> loss = (state, sum, i) -> state[0] + sum[0];
    List<Optional<IterationResult<double[]>>> results =
        ranks(
            group -> {
              Optional<IterationResult<double[]>> result =
                  loop(group, new IterationFunctions<>(OWN, MEAN, null, loss), 3, 0, numbers(10));
              if (group.rank() == 0) {
                GroupStatistics.Progress progress = group.statistics().progress();
                assertThat(progress.done()).isEqualTo(3);
                assertThat(progress.total()).isEqualTo(3);
                assertThat(progress.text()).isEqualTo("loss 20.0");
              }
              return result;
            });
    assertThat(results.get(0).orElseThrow().losses()).containsExactly(16, 18, 20);
  }

  @Test
  void aRankWithoutRowsIsNotAskedAndContributesZeros() {
    List<Optional<IterationResult<double[]>>> results =
        ranks(
            group ->
                new IterationLoop<>(group, functions(OWN, MEAN), 1, 0)
                    .run(
                        numbers(0),
                        () ->
                            group.rank() == 1 ? Optional.empty() : Optional.of(group.rank() + 1)));
    assertThat(results.get(0).orElseThrow().state()).containsExactly(4.0 / SIZE);
  }

  @Test
  void allRanksRefuseIfNoneHasRows() {
    ranks(
        group -> {
          IterationLoop<double[], Integer> loop =
              new IterationLoop<>(group, functions(OWN, MEAN), 1, 0);
          assertThatThrownBy(() -> loop.run(numbers(0), Optional::empty))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("None of the 3 partitions has a row");
          return null;
        });
  }

  @Test
  void allRanksNameThoseWhoseContributionsDifferInLength() {
    Contribution<double[], Integer> odd = (state, data, i) -> new double[data == 2 ? 5 : 4];
    // A slow rank may hear it from one that has ended the group already.
    assertThat(failures(functions(odd, MEAN), numbers(0)))
        .hasAtLeastOneElementOfType(IllegalArgumentException.class)
        .allSatisfy(
            each ->
                assertThat(each)
                    .hasMessageContaining("4 numbers on ranks 0, 2, 5 numbers on rank 1"));
  }

  @Test
  void aContributionThatChangesItsLengthLaterNamesRankAndIteration() {
    Contribution<double[], Integer> odd =
        (state, data, i) -> new double[data == 2 && i == 3 ? 5 : 4];
    assertThatOneRankHasFailed(
        failures(functions(odd, MEAN), numbers(0)),
        1,
        3,
        "Rank 1 failed in iteration 3, in its contribution: ",
        "5 numbers, and 4");
  }

  @Test
  void aFunctionThatThrowsNamesRankAndIteration() {
    Contribution<double[], Integer> failing =
        (state, data, i) -> {
          if (data == 3 && i == 2) {
            throw new java.io.IOException("the disk is gone");
          }
          return numbers(data);
        };
    List<Throwable> failures = failures(functions(failing, MEAN), numbers(0));
    assertThatOneRankHasFailed(
        failures, 2, 2, "Rank 2 failed in iteration 2, in its contribution: ", "the disk is gone");
    assertThat(failures.get(2)).hasCauseInstanceOf(java.io.IOException.class);
  }

  @Test
  void functionsOfRankZeroThatThrowNameIt() {
    StateUpdate<double[]> failing = (state, sum, i) -> numbers(List.of(1.0).get(i - 1));
    assertThatOneRankHasFailed(
        failures(functions(OWN, failing), numbers(0)), 0, 2, "in the update of the state", "");
    StopCondition<double[]> unsure =
        (previous, next, i) -> {
          throw new AssertionError("unsure");
        };
    assertThatOneRankHasFailed(
        failures(new IterationFunctions<>(OWN, MEAN, unsure, null), numbers(0)),
        0,
        1,
        "in the stop condition",
        "unsure");
  }

  @Test
  void nullIsRefused() {
    assertThatOneRankHasFailed(
        failures(functions((state, data, i) -> data == 2 ? null : numbers(1), MEAN), numbers(0)),
        1,
        1,
        "in its contribution",
        "null");
    assertThatOneRankHasFailed(
        failures(functions(OWN, (state, sum, i) -> null), numbers(0)),
        0,
        1,
        "in the update of the state",
        "null");
  }

  @Test
  void numbersAsStateKeepTheirLength() {
    StateUpdate<double[]> growing = (state, sum, i) -> new double[state.length + 1];
    List<Throwable> failures = failures(functions(OWN, growing), numbers(0));
    assertThatOneRankHasFailed(failures, 0, 1, "2 numbers for 1", "keep its length");
  }

  @Test
  void aLoaderThatThrowsNamesTheRank() {
    ranks(
        group -> {
          IterationLoop<double[], Integer> loop =
              new IterationLoop<>(group, functions(OWN, MEAN), 1, 0);
          assertThatThrownBy(
                  () ->
                      loop.run(
                          numbers(0),
                          () -> {
                            throw new java.io.IOException("not a number");
                          }))
              .hasMessageStartingWith("Rank " + group.rank() + " failed before the first iteration")
              .hasMessageContaining("not a number");
          return null;
        });
  }

  private static void assertThatOneRankHasFailed(
      List<Throwable> failures, int rank, int iteration, String... parts) {
    assertThat(failures.get(rank))
        .isInstanceOfSatisfying(
            IterationException.class,
            failure -> {
              assertThat(failure.rank()).isEqualTo(rank);
              assertThat(failure.iteration()).isEqualTo(iteration);
              assertThat(failure).hasMessageContainingAll(parts);
            });
    for (int other = 0; other < SIZE; other++) {
      if (other != rank) {
        assertThat(failures.get(other)).isInstanceOf(PeerFailedException.class);
      }
    }
  }
}
