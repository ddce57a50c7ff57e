package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.FaultyRankContract;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.store.HashStore;

/** Tests whose failure it is when a communication hook throws. */
class WhoseHookFailureTest extends FaultyRankContract {

  /** The places at which a hook's code runs. */
  @SuppressWarnings("ImmutableEnumChecker") // The functions have no state.
  enum HookPlace {
    CALL(
        (bucket, fault) -> {
          throw thrown(fault);
        }),
    FUTURE((bucket, fault) -> CompletableFuture.failedFuture(fault.get())),
    CALLBACK(
        (bucket, fault) ->
            sum(bucket)
                .thenApply(
                    sum -> {
                      throw thrown(fault);
                    })),
    EXECUTOR(
        (bucket, fault) ->
            sum(bucket)
                .thenApplyAsync(
                    sum -> {
                      throw thrown(fault);
                    },
                    bucket.executor())),
    TASK_OF_EXECUTOR(
        (bucket, fault) -> {
          bucket
              .executor()
              .execute(
                  () -> {
                    throw thrown(fault);
                  });
          return sum(bucket);
        });

    private final Hook hook;

    HookPlace(Hook hook) {
      this.hook = hook;
    }

    private interface Hook {
      CompletableFuture<Tensor> run(GradientBucket bucket, Supplier<Throwable> fault);
    }

    /** Throws the fault, also one that Java would have to declare. */
    private static RuntimeException thrown(Supplier<Throwable> fault) {
      return HookPlace.<RuntimeException>unchecked(fault.get());
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> RuntimeException unchecked(Throwable fault) throws T {
      throw (T) fault;
    }

    private static CompletableFuture<Tensor> sum(GradientBucket bucket) {
      return CommHooks.allReduce().run(bucket);
    }
  }

  private static final int MOST_STEPS = 10_000;

  private static Parameter parameter(int count) {
    return Parameter.of("w", Tensor.allocate(DType.FLOAT32, count));
  }

  @ParameterizedTest
  @EnumSource(HookPlace.class)
  void theRankWhoseHookThrowsIsNamedByAllAndTheReducersParentGoesOn(HookPlace place) {
    try (HashStore store = new HashStore()) {
      for (int count : new int[] {SMALL, LARGE}) {
        Supplier<Throwable> fault =
            count == SMALL
                ? () -> new OutOfMemoryError("no room for a hook")
                : () -> new IOException("of a hook in Scala");
        List<Throwable> failures =
            failures(
                store,
                world -> {
                  Throwable thrown;
                  try (GradientReducer reducer =
                      GradientReducer.create(
                          world, List.of(parameter(count)), ReducerOptions.defaults())) {
                    reducer.setCommHook(
                        bucket ->
                            world.rank() == GUILTY
                                ? place.hook.run(bucket, fault)
                                : HookPlace.sum(bucket));
                    world.barrier().await(); // All have the reducer before one of them fails.
                    thrown =
                        catchThrowable(
                            () -> {
                              // Others that had a sum before hear of it in a later step.
                              for (int step = 0; step < MOST_STEPS; step++) {
                                reducer.beginForward();
                                reducer.reduce();
                              }
                            });
                  }
                  int[] sum = {1};
                  world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
                  assertThat(sum).containsExactly(SIZE);
                  throw (CollectiveException) thrown;
                });
        for (int rank = 0; rank < SIZE; rank++) {
          assertThat(failures.get(rank))
              .as("%s of %s, rank %s", place, count, rank)
              .hasMessageContaining(fault.get().toString())
              .hasMessageContaining("rank " + GUILTY);
          if (rank != GUILTY) {
            assertThat(failures.get(rank))
                .isInstanceOfSatisfying(
                    PeerFailedException.class,
                    peer -> assertThat(peer.failure().rank()).isEqualTo(GUILTY));
          }
        }
      }
      workAgain(store);
    }
  }
}
