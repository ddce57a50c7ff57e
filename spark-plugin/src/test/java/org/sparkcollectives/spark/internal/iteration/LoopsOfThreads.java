package org.sparkcollectives.spark.internal.iteration;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.iteration.Contribution;
import org.sparkcollectives.spark.iteration.IterationResult;
import org.sparkcollectives.spark.iteration.StateUpdate;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Runs loops on ranks that are threads. The data of rank r is r + 1. */
@ExtendWith(LeakCheck.class)
abstract class LoopsOfThreads {

  static final int SIZE = 3;

  /** Adds the mean of all ranks' data, which is 2. */
  static final Contribution<double[], Integer> OWN = (state, data, i) -> numbers(data);

  static final StateUpdate<double[]> MEAN = (state, sum, i) -> numbers(state[0] + sum[0] / SIZE);

  private final HashStore store = new HashStore();
  private int groups;

  @AfterEach
  void close() {
    store.close();
  }

  static double[] numbers(double... values) {
    return values;
  }

  static <S, D> IterationFunctions<S, D> functions(
      Contribution<S, D> contribution, StateUpdate<S> update) {
    return new IterationFunctions<>(contribution, update, null, null);
  }

  /** Runs a loop on all ranks, each time in a group of its own, over one store of checkpoints. */
  final <R> List<R> ranks(GroupRuns.Body<R> body) {
    GroupOptions options = GroupOptions.defaults().withName("attempt-" + ++groups);
    return GroupRuns.run(store, SIZE, options, rank -> RankContext.process(), body);
  }

  static <S> Optional<IterationResult<S>> loop(
      ProcessGroup group, IterationFunctions<S, Integer> functions, int most, int kept, S initial) {
    return new IterationLoop<>(group, functions, most, kept)
        .run(initial, () -> Optional.of(group.rank() + 1));
  }

  final <S> IterationResult<S> result(
      IterationFunctions<S, Integer> functions, int most, int kept, S initial) {
    List<Optional<IterationResult<S>>> results =
        ranks(group -> loop(group, functions, most, kept, initial));
    assertThat(results.subList(1, SIZE)).allMatch(Optional::isEmpty);
    return results.get(0).orElseThrow();
  }

  final <S> List<Throwable> failures(IterationFunctions<S, Integer> functions, S initial) {
    return failures(functions, 0, initial);
  }

  /** Returns what a loop throws on each rank. */
  final <S> List<Throwable> failures(
      IterationFunctions<S, Integer> functions, int kept, S initial) {
    return ranks(
        group -> {
          try {
            loop(group, functions, 10, kept, initial);
            throw new AssertionError("Rank " + group.rank() + " has not failed");
          } catch (RuntimeException e) {
            group.abort(e);
            return e;
          }
        });
  }
}
