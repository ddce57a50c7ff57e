package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests how the reducer runs a hook, and what follows from one that fails. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"HEAP", "DETAIL", "TCP"})
class ReducerHookTest {

  private static final ReducerOptions OPTIONS =
      ReducerOptions.defaults().withBucketBytes(16).withRebuild(false);

  @org.junit.jupiter.params.Parameter private Paths paths;

  /** Sums up, and divides nothing. */
  private static CompletableFuture<Tensor> sum(GradientBucket bucket) {
    return bucket
        .group()
        .allReduce(bucket.buffer(), ReduceOp.SUM)
        .future()
        .thenApply(tensors -> tensors.get(0));
  }

  /** Two stages with a wait in between, as PowerSGD has. */
  private static CompletableFuture<Tensor> inTwoStages(GradientBucket bucket) {
    Tensor largest = Tensor.of(bucket.index() + 0.0);
    bucket.group().allReduce(largest, ReduceOp.MAX).await();
    assertThat((double[]) largest.array()).containsExactly(bucket.index());
    return sum(bucket);
  }

  @Test
  void aHooksResultIsNotDivided() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          TestModel model = TestModel.of(4, 4, 4);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), OPTIONS)) {
            reducer.setCommHook(ReducerHookTest::sum);
            assertThatThrownBy(() -> reducer.setCommHook(ReducerHookTest::sum))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has a hook already");
            for (int i = 0; i < 3; i++) {
              model.zero(reducer);
              model.step(reducer, 1 + group.rank());
              model.assertGradients(reducer, 3);
            }
          }
          return null;
        });
  }

  /** Sums up; the first bucket has its result once the last one has been reduced. */
  private static CommHook firstAfterLast(CountDownLatch lastIsReduced) {
    return bucket -> {
      CompletableFuture<Tensor> reduced = sum(bucket);
      if (bucket.isLast()) {
        return reduced.whenComplete((sum, failure) -> lastIsReduced.countDown());
      }
      return reduced.thenApplyAsync(
          sum -> {
            assertThat(waited(lastIsReduced)).isTrue();
            return sum;
          },
          bucket.executor());
    };
  }

  private static boolean waited(CountDownLatch latch) {
    try {
      return latch.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void theLastPartOfAHookDoesNotHoldUpTheNextBuckets() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          TestModel model = TestModel.of(4, 4, 4);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), OPTIONS)) {
            reducer.setCommHook(firstAfterLast(new CountDownLatch(1)));
            model.step(reducer, 1 + group.rank());
            model.assertGradients(reducer, 3);
          }
          return null;
        });
  }

  @Test
  void stagesOfDifferentBucketsNeverMeet() {
    GroupRuns.run(
        3,
        paths,
        group -> {
          TestModel model = TestModel.of(4, 4, 4, 4, 4, 4, 4, 4);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), OPTIONS)) {
            reducer.setCommHook(ReducerHookTest::inTwoStages);
            assertThat(reducer.buckets()).hasSize(8);
            for (int step = 0; step < 20; step++) {
              model.zero(reducer);
              reducer.beginBackward();
              for (int i = 0; i < model.size(); i++) {
                // The ranks mark in different orders.
                int parameter = (i * (1 + 2 * group.rank()) + step) % model.size();
                TestModel.add(reducer, parameter, parameter + step);
                reducer.markReady(parameter);
              }
              reducer.finish();
              for (int i = 0; i < model.size(); i++) {
                TestModel.assertGradient(reducer, i, 3 * (i + step));
              }
            }
          }
          return null;
        });
  }

  @Test
  void bucketsComeInOrderAndSayWhatTheyAre() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          TestModel model = TestModel.of(4, 2, 3);
          List<String> seen = new CopyOnWriteArrayList<>();
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), OPTIONS)) {
            reducer.setCommHook(
                bucket -> {
                  seen.add(
                      bucket.step()
                          + "/"
                          + bucket.index()
                          + (bucket.isLast() ? " last " : " ")
                          + bucket.buffer()
                          + bucket.gradients()
                          + bucket.values().size()
                          + List.of(bucket.parameters()[0])
                          + bucket.divisor());
                  assertThat(bucket.group()).isEqualTo(reducer.processGroup());
                  return sum(bucket);
                });
            model.step(reducer, 1);
            model.step(reducer, 1);
          }
          assertThat(seen)
              .containsExactly(
                  "0/0 float32[5][float32[2], float32[3]]2[1]2.0",
                  "0/1 last float32[4][float32[4]]1[0]2.0",
                  "1/0 float32[5][float32[2], float32[3]]2[1]2.0",
                  "1/1 last float32[4][float32[4]]1[0]2.0");
          return null;
        });
  }

  @Test
  void aHookMayReturnAnotherTensorOrSetAnotherBuffer() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          TestModel model = TestModel.of(4, 4);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), OPTIONS)) {
            reducer.setCommHook(
                bucket -> {
                  assertThatThrownBy(() -> bucket.setBuffer(Tensor.of(1f)))
                      .isInstanceOf(IllegalArgumentException.class)
                      .hasMessageContaining("float32[1]");
                  bucket.setBuffer(Tensor.of(5f, 5f, 5f, 5f));
                  return CompletableFuture.completedFuture(bucket.buffer());
                });
            model.step(reducer, 1);
            model.assertGradients(reducer, 5);
          }
          return null;
        });
  }

  @Test
  void aStepThatOneRankCannotFinishFailsOnAllWithAHookToo() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          TestModel model = TestModel.of(4, 4);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), OPTIONS)) {
            reducer.setCommHook(ReducerHookTest::inTwoStages);
            reducer.beginBackward();
            reducer.markReady(1);
            if (group.rank() == 0) {
              reducer.markReady(0);
            }
            assertThatThrownBy(reducer::finish)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("rank 1 did not mark parameter 0");
            model.zero(reducer);
            model.step(reducer, 1);
            model.assertGradients(reducer, 2);
          }
          return null;
        });
  }

  /** Runs a hook that fails on rank 1 in its second bucket, and returns what each rank throws. */
  private List<Throwable> failing(Duration timeout, CommHook onRankOne) {
    return GroupRuns.run(
        3,
        paths,
        world -> {
          ProcessGroup group = world.withTimeout(timeout);
          TestModel model = TestModel.of(4, 4, 4);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), OPTIONS)) {
            reducer.setCommHook(
                bucket ->
                    group.rank() == 1 && bucket.index() == 1
                        ? onRankOne.run(bucket)
                        : inTwoStages(bucket));
            Throwable thrown = catchThrowable(() -> model.step(reducer, 1));
            assertThatThrownBy(() -> model.step(reducer, 1))
                .isInstanceOf(CollectiveException.class);
            return thrown;
          }
        });
  }

  private static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }

  @Test
  void aHookThatThrowsEndsTheGroupOnAllRanksWithItsException() {
    List<Throwable> thrown =
        failing(
            Duration.ofSeconds(30),
            bucket -> {
              throw new UnsupportedOperationException("boom");
            });
    assertThat(thrown).allMatch(each -> each instanceof CollectiveException);
    assertThat(thrown.get(1)).hasCauseInstanceOf(UnsupportedOperationException.class);
    assertThat(thrown.get(1)).hasMessageContaining("bucket 1");
    assertThat(thrown).allSatisfy(each -> assertThat(trace(each)).contains("boom"));
  }

  @Test
  void aFutureThatFailsEndsTheGroupOnAllRanksWithItsException() {
    List<Throwable> thrown =
        failing(
            Duration.ofSeconds(30),
            bucket ->
                inTwoStages(bucket)
                    .thenApply(
                        done -> {
                          throw new UnsupportedOperationException("boom");
                        }));
    assertThat(thrown.get(1)).hasCauseInstanceOf(UnsupportedOperationException.class);
    assertThat(thrown).allSatisfy(each -> assertThat(trace(each)).contains("boom"));
  }

  @Test
  void aResultOfAnotherSizeOrTypeOrNoneEndsTheGroupAndSaysWhichHook() {
    List<CommHook> wrong = new ArrayList<>();
    wrong.add(bucket -> CompletableFuture.completedFuture(bucket.buffer().slice(0, 3)));
    wrong.add(bucket -> CompletableFuture.completedFuture(Tensor.of(1.0, 2, 3, 4)));
    wrong.add(bucket -> CompletableFuture.completedFuture(null));
    wrong.add(bucket -> null);
    List<String> said = List.of("float32[3]", "float64[4]", "null", "null");
    for (int i = 0; i < wrong.size(); i++) {
      List<Throwable> thrown = failing(Duration.ofSeconds(30), wrong.get(i));
      assertThat(trace(thrown.get(1)))
          .contains("bucket 1, float32[4] of parameters [1]")
          .contains(ReducerHookTest.class.getName())
          .contains(said.get(i));
      assertThat(thrown).allSatisfy(each -> assertThat(trace(each)).contains("bucket 1"));
    }
  }

  @Test
  void aHookThatNeverEndsEndsTheGroupAfterTheTimeout() {
    // The timeout is long enough for a busy machine to create a reducer, so it is awaited once
    // only.
    if (paths != Paths.TCP) {
      return;
    }
    List<Throwable> thrown =
        failing(
            Duration.ofSeconds(4),
            bucket -> inTwoStages(bucket).thenCompose(done -> new CompletableFuture<Tensor>()));
    assertThat(thrown).allMatch(each -> each instanceof CollectiveException);
    assertThat(thrown.get(1)).hasMessageContaining("bucket 1");
  }

  @Test
  void anAbortByItsOwnRankEndsTheWaitForAHook() {
    List<Throwable> thrown =
        failing(
            Duration.ofSeconds(60),
            bucket ->
                inTwoStages(bucket)
                    .thenCompose(
                        done -> {
                          bucket.group().abort(new UnsupportedOperationException("boom"));
                          return new CompletableFuture<>();
                        }));
    assertThat(thrown).allMatch(each -> each instanceof CollectiveException);
    assertThat(thrown)
        .allSatisfy(each -> assertThat(trace(each)).contains("boom").doesNotContain("within PT1M"));
  }

  @Test
  void anAbortByItsOwnRankEndsTheWaitForTheHookBeforeAStep() {
    List<Throwable> thrown =
        failing(
            Duration.ofSeconds(60),
            CommHooks.thenStep(
                bucket -> {
                  bucket.group().abort(new UnsupportedOperationException("boom"));
                  return new CompletableFuture<>();
                },
                parameter -> true,
                (parameter, value, gradient) -> {}));
    assertThat(thrown).allMatch(each -> each instanceof CollectiveException);
    assertThat(thrown)
        .allSatisfy(each -> assertThat(trace(each)).contains("boom").doesNotContain("PT1M"));
  }
}
