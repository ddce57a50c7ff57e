package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests hooks bucket by bucket, on real groups and without a reducer. */
@ExtendWith(LeakCheck.class)
class CommHooksTest {

  private static Tensor run(CommHook hook, GradientBucket bucket) throws Exception {
    return hook.run(bucket).get(30, TimeUnit.SECONDS);
  }

  private static float[] floats(Tensor tensor) {
    float[] values = new float[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  /** Returns what each rank has after a hook. */
  private static List<float[]> reduced(Paths paths, CommHook hook, List<float[]> inputs) {
    return GroupRuns.run(
        inputs.size(),
        paths,
        group -> {
          Tensor buffer = group.allocate(DType.FLOAT32, inputs.get(0).length);
          buffer.copyFrom(inputs.get(group.rank()));
          Tensor result = run(hook, new GivenBucket(group, buffer));
          assertThat(result).isSameAs(buffer);
          return floats(result);
        });
  }

  private static List<float[]> inputs(JsonNode each) {
    List<float[]> inputs = new ArrayList<>();
    each.get("inputs").forEach(row -> inputs.add(Tables.floats(row)));
    return inputs;
  }

  /** Checks what each rank of a case has after its hook. */
  private interface CaseCheck {
    void check(JsonNode each, float[] result);
  }

  /** Runs all cases of a table with so many ranks in one group. */
  private static void runCases(
      Paths paths, String table, int size, Function<JsonNode, CommHook> hooks, CaseCheck check) {
    List<JsonNode> cases =
        Tables.of(table).stream().filter(each -> each.get("worldSize").asInt() == size).toList();
    assertThat(cases).isNotEmpty();
    GroupRuns.run(
        size,
        paths,
        group -> {
          for (JsonNode each : cases) {
            Tensor buffer = group.allocate(DType.FLOAT32, inputs(each).get(0).length);
            buffer.copyFrom(inputs(each).get(group.rank()));
            Tensor result = run(hooks.apply(each), new GivenBucket(group, buffer));
            check.check(each, floats(result));
          }
          return null;
        });
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "SHM", "TCP", "MIXED"})
  void halvesAreTheOnesOfPyTorch(Paths paths) {
    for (int size : new int[] {2, 3}) {
      runCases(
          paths,
          "compress",
          size,
          each ->
              each.get("hook").asText().equals("fp16") ? CommHooks.float16() : CommHooks.bfloat16(),
          (each, result) -> {
            String field = each.has("float32SumRoundedOnce") ? "float32SumRoundedOnce" : "output";
            assertThat(result).as("%s", each.get("name")).isEqualTo(Tables.floats(each.get(field)));
          });
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "SHM", "TCP", "MIXED"})
  void quantizedMeansAreTheOnesOfPyTorch(Paths paths) {
    runCases(
        paths,
        "quantize",
        2,
        each ->
            each.get("hook").asText().equals("per tensor")
                ? CommHooks.quantizedPerTensor()
                : CommHooks.quantizedPerChannel(512),
        (each, result) -> {
          float[] expected = Tables.floats(each.get("output"));
          assertThat(result).hasSameSizeAs(expected);
          for (int i = 0; i < expected.length; i++) {
            String what = each.get("name") + " [" + i + "]";
            if (Float.isNaN(expected[i])) {
              assertThat(result[i]).as(what).isNaN();
            } else {
              float tolerance = 1e-5f * Math.abs(expected[i]) + 1e-7f;
              assertThat(result[i]).as(what).isCloseTo(expected[i], within(tolerance));
            }
          }
        });
  }

  @Test
  void aChannelWithAnInfinityIsNanAndItsNeighboursAreNot() {
    float[] values = {1, Float.NEGATIVE_INFINITY, 3, 4, 5};
    for (float[] result :
        reduced(Paths.HEAP, CommHooks.quantizedPerChannel(2), List.of(values, new float[5]))) {
      assertThat(result[0]).isNaN();
      assertThat(result[1]).isNaN();
      assertThat(result[2]).isCloseTo(1.5f, within(0.01f));
      assertThat(result[3]).isCloseTo(2f, within(0.01f));
      assertThat(result[4]).isCloseTo(2.5f, within(0.01f));
    }
  }

  @Test
  void theRangeOfAllFloatsIsQuantizedWithoutOverflow() {
    float[] values = {-3e38f, 3e38f, 0};
    for (float[] result :
        reduced(Paths.HEAP, CommHooks.quantizedPerTensor(), List.of(values, new float[3]))) {
      assertThat(result[0]).isCloseTo(-1.5e38f, within(2e36f));
      assertThat(result[1]).isCloseTo(1.5e38f, within(2e36f));
    }
  }

  @Test
  void dividedFirstTheMeanOfLargeGradientsFits() {
    List<float[]> inputs = List.of(new float[] {98_304}, new float[] {16_384});
    assertThat(reduced(Paths.HEAP, CommHooks.divideFirst(DType.FLOAT16), inputs))
        .allSatisfy(result -> assertThat(result).containsExactly(57_344f));
    assertThat(reduced(Paths.HEAP, CommHooks.float16(), inputs))
        .allSatisfy(result -> assertThat(result).containsExactly(Float.POSITIVE_INFINITY));
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP", "MIXED"})
  void theAllReduceHasTheBitsOfTheMean(Paths paths) {
    List<float[]> inputs = random(3, 1000, 7);
    List<float[]> means =
        GroupRuns.run(
            3,
            paths,
            group -> {
              Tensor own = Tensor.of(inputs.get(group.rank()).clone());
              group.allReduce(own, ReduceOp.AVG).await();
              return floats(own);
            });
    assertThat(reduced(paths, CommHooks.allReduce(), inputs)).containsExactlyElementsOf(means);
  }

  @Test
  void theDivisorOfTheBucketCounts() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          float own = group.rank() + 1;
          for (CommHook hook :
              List.of(
                  CommHooks.allReduce(),
                  CommHooks.float16(),
                  CommHooks.bfloat16(),
                  CommHooks.divideFirst(DType.BFLOAT16),
                  CommHooks.compressed(DType.FLOAT16, CommHooks.allReduce()),
                  CommHooks.compressed(DType.BFLOAT16, CommHooks.float16()),
                  CommHooks.quantizedPerTensor(),
                  CommHooks.quantizedPerChannel(1))) {
            for (DType type :
                List.of(DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64)) {
              HostTensor buffer = HostTensor.allocate(type, 2);
              FloatElements.write(new float[] {own, -own}, 0, buffer, 0, 2);
              Tensor result = run(hook, new GivenBucket(group, buffer).withDivisor(2));
              float[] values = new float[2];
              FloatElements.read(HostTensor.of(result), 0, 2, values, 0);
              assertThat(values[0]).isCloseTo(3f, within(0.03f));
              assertThat(values[1]).isCloseTo(-3f, within(0.03f));
            }
          }
          return null;
        });
  }

  @Test
  void aMeanOfHalvesWithAnotherDivisorDoesNotOverflowAsItsSumWould() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          HostTensor buffer = HostTensor.allocate(DType.FLOAT16, 1);
          FloatElements.write(new float[] {40_000}, 0, buffer, 0, 1);
          run(CommHooks.allReduce(), new GivenBucket(group, buffer).withDivisor(2.5));
          float[] value = new float[1];
          FloatElements.read(buffer, 0, 1, value, 0);
          assertThat(value[0]).isEqualTo(48_000f);
          return null;
        });
  }

  @Test
  void compressedHalvesAreSummedInFloat32AndRoundedOnce() {
    List<float[]> inputs = List.of(new float[] {2048}, new float[] {1}, new float[] {1});
    float third = Float16.toFloat(Float16.fromFloat(2050 / 3f));
    assertThat(
            reduced(Paths.HEAP, CommHooks.compressed(DType.FLOAT16, CommHooks.allReduce()), inputs))
        .allSatisfy(result -> assertThat(result).containsExactly(third));
  }

  @Test
  void aCompressedBucketShowsHalves() {
    CommHook inner =
        bucket -> {
          assertThat(bucket.buffer().dtype()).isEqualTo(DType.BFLOAT16);
          assertThat(bucket.gradients())
              .extracting(Tensor::shape)
              .containsExactly(new long[] {2, 2}, new long[] {1});
          assertThat(bucket.gradients()).extracting(Tensor::dtype).containsOnly(DType.BFLOAT16);
          assertThat(bucket.parameters()).containsExactly(5, 6);
          assertThat(bucket.index()).isEqualTo(1);
          assertThat(bucket.isLast()).isFalse();
          assertThat(bucket.step()).isEqualTo(9);
          assertThat(bucket.divisor()).isEqualTo(4);
          assertThat(bucket.values()).hasSize(2);
          Tensor other = Tensor.wrap(DType.BFLOAT16, new short[5]);
          bucket.setBuffer(other);
          assertThat(bucket.buffer().array()).isSameAs(other.array());
          assertThatThrownBy(() -> bucket.setBuffer(Tensor.of(new float[5])))
              .isInstanceOf(IllegalArgumentException.class);
          return CompletableFuture.completedFuture(other);
        };
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          GradientBucket bucket =
              new GivenBucket(
                      group, Tensor.of(1f, 2f, 3f, 4f, 5f), new long[] {2, 2}, new long[] {1})
                  .withIndex(1, 3)
                  .withFirstParameter(5)
                  .withStep(9)
                  .withDivisor(4)
                  .withValues(Tensor.of(new float[4]), Tensor.of(0f));
          assertThat(floats(run(CommHooks.compressed(DType.BFLOAT16, inner), bucket)))
              .containsOnly(0f);
          return null;
        });
  }

  @Test
  void aResultOfAnotherTypeOrCountIsRefused() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          for (Tensor wrong : new Tensor[] {null, Tensor.of(1f, 2f), Tensor.of(1.0)}) {
            CommHook inner = bucket -> CompletableFuture.completedFuture(wrong);
            GradientBucket bucket = new GivenBucket(group, Tensor.of(1f)).withValues(Tensor.of(1f));
            assertThatThrownBy(() -> run(CommHooks.compressed(DType.FLOAT16, inner), bucket))
                .rootCause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("bucket 0")
                .hasMessageContaining("gave " + wrong)
                .hasMessageContaining("float16[1]");
            assertThatThrownBy(
                    () -> run(CommHooks.thenStep(inner, (i, value, gradient) -> {}), bucket))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("gave " + wrong)
                .hasMessageContaining("float32[1]");
          }
          return null;
        });
  }

  @Test
  void withoutAnOperationEachRankKeepsItsOwn() {
    List<float[]> inputs = random(2, 5, 1);
    assertThat(reduced(Paths.HEAP, CommHooks.noop(), inputs)).containsExactlyElementsOf(inputs);
  }

  @Test
  void anEmptyBucketIsReduced() {
    List<float[]> inputs = List.of(new float[0], new float[0]);
    for (CommHook hook : stateless()) {
      assertThat(reduced(Paths.HEAP, hook, inputs)).allSatisfy(each -> assertThat(each).isEmpty());
    }
  }

  private static List<CommHook> stateless() {
    return List.of(
        CommHooks.allReduce(),
        CommHooks.float16(),
        CommHooks.bfloat16(),
        CommHooks.divideFirst(DType.FLOAT16),
        CommHooks.compressed(DType.FLOAT16, CommHooks.allReduce()),
        CommHooks.quantizedPerTensor(),
        CommHooks.quantizedPerChannel(512));
  }

  @Test
  void gradientsThatAreNoFloatsAreRefusedBeforeAnythingIsSent() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          for (CommHook hook : stateless().subList(1, stateless().size())) {
            assertThatThrownBy(() -> run(hook, new GivenBucket(group, Tensor.of(1, 2))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("int32[2]");
          }
          group.barrier().await();
          return null;
        });
  }

  @Test
  void settingsThatDoNotFitAreRefused() {
    for (DType type : new DType[] {DType.FLOAT32, DType.FLOAT64, DType.INT8, null}) {
      assertThatThrownBy(() -> CommHooks.divideFirst(type))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> CommHooks.compressed(type, CommHooks.noop()))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> CommHooks.quantizedPerChannel(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at least one element");
    assertThatThrownBy(() -> CommHooks.compressed(DType.FLOAT16, null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> CommHooks.thenStep(CommHooks.noop(), null))
        .isInstanceOf(NullPointerException.class);
  }

  private static List<float[]> random(int ranks, int length, long seed) {
    Random random = new Random(seed);
    List<float[]> all = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      float[] values = new float[length];
      for (int i = 0; i < length; i++) {
        values[i] = (float) random.nextGaussian();
      }
      all.add(values);
    }
    return all;
  }
}
